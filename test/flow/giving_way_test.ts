import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { createSilentServer } from "../fakes/silent_server.ts";
import { githubPush, signed } from "../fakes/webhook_requests.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { label, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, type World } from "./world.ts";

const compose = (number: string) => composeFile({ web: service({ labels: { number } }) });

const SECRET = "giving-way";
const CLONE_URL = "https://git.example.test/acme/shop.git";

/** Sends a push of the world's repository. */
async function push({ app }: World): Promise<void> {
  const repository = { full_name: "acme/shop", clone_url: CLONE_URL };
  const payload = githubPush({ repository });
  const { headers, body } = signed("github", { event: "push", payload, secret: SECRET });
  const answer = await fetch(`${app.url}/v1/webhook`, { method: "POST", headers, body });
  assert.equal(answer.status, 202, await answer.text());
}

/** Starts the service again, where webhooks alone bring what is pushed to the world's repository. */
async function takeWebhooks(world: World): Promise<void> {
  const SOURCE_URL_REWRITES = `"${CLONE_URL}": "${world.repository.url}"`;
  await world.restart({ WEBHOOK_SECRET: SECRET, SOURCE_URL_REWRITES });
}

const isDeployed = (world: World, number: string, stack = world.stack) => async () =>
  await label(world, "web", "number", stack) === number;

/** A world whose configuration has a stack, and discovers others in a repository of another author. */
async function withOtherAuthor(
  test: (world: World, found: FakeRepository, hang: PromiseWithResolvers<void>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-giving-way-"));
  const hang = Promise.withResolvers<void>();
  // A container of that author's ignores signals.
  const isSlow = ({ id, name }: { readonly id: string; readonly name: string }, path: string) =>
    name.includes("-slow-") && path.includes(`/${id}/stop`);
  const onMutation = (_number: number, { path }: { readonly path: string }) =>
    world.fake?.containers().some((each) => isSlow(each, path)) ? hang.promise : undefined;
  const env = { ALLOW_LOCAL_REPOSITORY_URL: "true" };
  const world: World = await createWorld({ engine: "fake", env, onMutation });
  try {
    const found = await createRepository(directory);
    const discovery = {
      ...{ name: "found", repository_url: found.url, working_dir: "apps" },
      auto_discovery: { enabled: true, delete: true },
    };
    await found.commit({ "apps/README": "stacks" });
    await world.repository.commit({
      ".stackwright.yaml": configFile({ name: world.stack }, discovery),
      "compose.yaml": compose("1"),
    });
    await test(world, found, hang);
  } finally {
    hang.resolve();
    await world.close();
    await rm(directory, { recursive: true, force: true });
  }
}

describe("a stack of another author", () => {
  it("whose removal does not end keeps the others from being deployed for half a minute at most", () =>
    withOtherAuthor(async (world, found, hang) => {
      const slow = `apps/${world.stack}-slow/compose.yaml`;
      await found.commit({ [slow]: compose("1") });
      await pollTo(world, "succeeded");
      await found.remove([slow]);
      await world.repository.commit({ "compose.yaml": compose("2") });
      const asked = pollTo(world, "succeeded");
      asked.catch(() => {});
      await until(isDeployed(world, "2"));
      assert.equal((await world.containers(`${world.stack}-slow`)).length, 1);
      assert.match(JSON.stringify(world.lines), /removals of stacks of .* take long: others are/);
      hang.resolve();
      const { deployments = [] } = await asked;
      assert.deepEqual(deployments.map(({ status }) => status), ["succeeded", "succeeded"]);
      assert.deepEqual(await world.containers(`${world.stack}-slow`), []);
    }));

  it("that does not become healthy keeps no webhook waiting for more than a minute", () =>
    withOtherAuthor(async (world, found) => {
      const bad = `${world.stack}-bad`;
      await takeWebhooks(world);
      const healthcheck = { test: ["CMD", "true"] };
      const checked = (number: string) =>
        composeFile({ sick: service({ healthcheck, labels: { number } }) });
      await found.commit({
        [`apps/${bad}/compose.yaml`]: checked("1"),
        [`apps/${bad}/.stackwright.yaml`]: "timeout: 10h\n",
      });
      world.fake?.setBehaviour("sick", { health: "starting" });
      for (const number of ["1", "2", "3"]) {
        await world.repository.commit({ "compose.yaml": compose(number) });
        await push(world);
        await until(isDeployed(world, number));
      }
      await found.commit({ [`apps/${bad}/compose.yaml`]: checked("2") });
      for (const number of ["4", "5", "6"]) {
        await world.repository.commit({ "compose.yaml": compose(number) });
        await push(world);
        await until(isDeployed(world, number));
      }
      assert.match(
        JSON.stringify(world.lines),
        /at work for more than a minute on .*-bad: the next run/,
      );
      const told = async () => {
        const list = await world.request("/v1/api/runs?limit=20");
        return JSON.stringify(await list.json());
      };
      await until(async () => /left to a later run, which waits for it/.test(await told()));
      world.fake?.setBehaviour("sick", { health: "healthy" });
      world.fake?.setHealth(`${bad}-sick-1`, "healthy");
      // The last run that waits deploys what is the newest.
      await until(async () => await label(world, "sick", "number", bad) === "2");
    }));
});

describe("a discovery in a repository whose server says nothing", () => {
  it("keeps the other stacks waiting for a minute at most, whoever brings them", () =>
    withOtherAuthor(async (world, found) => {
      const silent = await createSilentServer();
      try {
        const name = `${world.stack}-found`;
        await found.commit({ [`apps/${name}/compose.yaml`]: compose("1") });
        await world.repository.commit({
          ".stackwright.yaml": configFile({ name: world.stack }, {
            ...{ name: "found", working_dir: "apps" },
            repository_url: `http://127.0.0.1:${silent.port}/acme/apps.git`,
            auto_discovery: { enabled: true, delete: true },
          }),
        });
        await takeWebhooks(world);
        for (const number of ["2", "3"]) {
          await world.repository.commit({ "compose.yaml": compose(number) });
          await push(world);
          await until(isDeployed(world, number));
        }
        await world.repository.commit({ "compose.yaml": compose("4") });
        const asked = pollTo(world, "failed", { url: CLONE_URL });
        asked.catch(() => {});
        await until(isDeployed(world, "4"));
        assert.ok(silent.open.size > 0, "it is waited for still");
        assert.match(JSON.stringify(world.lines), /looking for stacks in apps of .*, for long/);
        silent.close();
        // A person who waits for the answer is told of all.
        const { deployments = [] } = await asked;
        assert.deepEqual(deployments.map(({ status }) => status).sort(), ["failed", "succeeded"]);
      } finally {
        silent.close();
      }
    }));

  it("keeps no further poll of its repository from deploying", () =>
    withOtherAuthor(async (world) => {
      const silent = await createSilentServer();
      try {
        const [own, polled] = [world.stack, `${world.stack}-polled`];
        const discovery = {
          ...{ name: "found", working_dir: "apps", auto_discovery: { enabled: true } },
          repository_url: `http://127.0.0.1:${silent.port}/acme/apps.git`,
        };
        await world.repository.commit({
          ".stackwright.yaml": configFile(discovery),
          "second/compose.yaml": compose("1"),
          "polled/compose.yaml": compose("1"),
          ".stackwright.two.yaml": configFile({ name: own, working_dir: "second" }),
        });
        const entry = { url: world.repository.url, reference: "main", interval: "10s" };
        const deployments = [{ name: polled, working_dir: "polled" }];
        const POLL_CONFIG = JSON.stringify([
          entry,
          { ...entry, target: "two" },
          { ...entry, deployments },
        ]);
        await world.restart({ POLL_CONFIG });
        for (const number of ["1", "2"]) {
          await world.repository.commit({
            "second/compose.yaml": compose(number),
            "polled/compose.yaml": compose(number),
          });
          await until(isDeployed(world, number));
          await until(isDeployed(world, number, polled));
        }
        assert.ok(silent.open.size > 0, "it is waited for still");
      } finally {
        silent.close();
      }
    }));
});
