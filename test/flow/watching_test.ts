import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

/** One stack of one service for each name, each in a directory of its own. */
async function commit(world: World, services: Readonly<Record<string, object>>): Promise<void> {
  const names = Object.keys(services);
  await world.repository.commit({
    ".stackwright.yaml": configFile(
      ...names.map((name) => ({ name: `${world.stack}-${name}`, working_dir: name })),
    ),
    ...Object.fromEntries(
      names.map((name) => [
        `${name}/compose.yaml`,
        composeFile({ web: service({ ...services[name] }) }),
      ]),
    ),
  });
}

/** Starts a run that nobody waits for. */
async function begin(world: World): Promise<void> {
  const answer = await world.request("/v1/api/poll/run?wait=false", {
    method: "POST",
    body: JSON.stringify([{ url: world.repository.url, reference: "main" }]),
  });
  assert.equal(answer.status, 202, await answer.text());
}

/** Waits until the newest run shows each stack in a state and with a message. */
async function untilShown(
  world: World,
  shown: Readonly<Record<string, readonly [status: string, message: RegExp]>>,
): Promise<void> {
  for (;;) {
    const answer = await world.request("/v1/api/runs");
    const [run] = (await answer.json()).content as RunBody[];
    const stacks = new Map(run?.deployments?.map((each) => [each.stack, each]));
    const isShown = Object.entries(shown).every(([name, [status, message]]) => {
      const stack = stacks.get(`${world.stack}-${name}`);
      return stack?.status === status && message.test(stack.message ?? "");
    });
    if (isShown) return;
    assert.ok(run === undefined || !["succeeded", "failed"].includes(run.status), "it ended");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const WATCHED = /^making sure that it stays healthy/;

describe("a stack that is only watched", () => {
  it("keeps no other from being deployed where only one may be at a time", async () => {
    const env = { MAX_CONCURRENT_DEPLOYMENTS: "1" };
    const world = await createWorld({ engine: "fake", env });
    try {
      const long = { deploy: { update_config: { monitor: "11h" } } };
      await commit(world, { a: long, b: long, c: {} });
      await begin(world);
      await untilShown(world, {
        a: ["running", WATCHED],
        b: ["running", WATCHED],
        c: ["succeeded", /./],
      });
    } finally {
      await world.close();
    }
  });

  it("is watched again after the process ended meanwhile, and nothing is replaced", async () => {
    const env = { MAX_CONCURRENT_DEPLOYMENTS: "1", DEPLOY_WATCH: "1000h" };
    const world = await createWorld({ engine: "fake", env });
    try {
      await commit(world, { a: {}, b: {} });
      await begin(world);
      await untilShown(world, { a: ["running", WATCHED], b: ["running", WATCHED] });
      world.proxy.reset();
      await world.restart({ DEPLOY_WATCH: "2s" });
      const { run } = await world.poll();
      assert.equal(run.status, "skipped", JSON.stringify(run));
      assert.equal(world.proxy.mutations(), 0);
    } finally {
      await world.close();
    }
  });
});
