import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, pollTo } from "./steps.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

const never = new AbortController().signal;
const COMPOSE = composeFile({ web: service({ volumes: ["data:/data"] }) }, {
  volumes: { data: {} },
});

/** Waits until a run that nobody waits for shows a stack with a message. */
async function untilShown(world: World, stack: string, message: RegExp): Promise<void> {
  for (;;) {
    const answer = await world.request("/v1/api/runs");
    const runs = (await answer.json()).content as RunBody[];
    const shown = runs.flatMap(({ deployments = [] }) => deployments);
    if (shown.some((each) => each.stack === stack && message.test(each.message ?? ""))) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until the removal of a stack is decided, which is before it waits for its turn. */
async function untilDecided(world: World, stack: string): Promise<void> {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  const sql = `SELECT id FROM decisions WHERE name = ? AND content LIKE '%"kind":"destroy"%'`;
  while (database.prepare(sql).get(stack) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  database.close();
}

async function begin(world: World, url: string): Promise<void> {
  const body = JSON.stringify([{ url, reference: "main" }]);
  const answer = await world.request("/v1/api/poll/run?wait=false", { method: "POST", body });
  assert.equal(answer.status, 202, await answer.text());
}

/** How stacks come to be removed: by their configuration, or as their directory is gone. */
const WAYS: readonly (readonly [
  title: string,
  files: (name: string) => Readonly<Record<string, string>>,
  remove: (other: FakeRepository, name: string) => Promise<unknown>,
])[] = [
  ["by destroy: true", (name) => ({
    ".stackwright.yaml": configFile({ name }),
    "compose.yaml": COMPOSE,
  }), (other, name) => other.commit({ ".stackwright.yaml": configFile({ name, destroy: true }) })],
  ["as its directory is gone", (name) => {
    const policy = { enabled: true, delete: true, remove_volumes: true };
    const discovery: Part = { working_dir: "apps", auto_discovery: policy };
    return {
      ".stackwright.yaml": configFile(discovery),
      "apps/x": "",
      [`apps/${name}/compose.yaml`]: COMPOSE,
    };
  }, (other, name) => other.remove([`apps/${name}`])],
];

describe("a stack that is held while its removal waits for its turn", () => {
  for (const [title, files, remove] of WAYS) {
    it(`stays, with its data, until it is resumed (${title})`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "stackwright-held-"));
      const world = await createWorld({
        engine: "fake",
        env: { MAX_CONCURRENT_DEPLOYMENTS: "1" },
      });
      try {
        const other = await createRepository(directory);
        const name = `${world.stack}-kept`;
        await other.commit(files(name));
        await pollTo(world, "succeeded", { url: other.url });
        const healthcheck = { test: ["CMD", "true"], interval: "1s" };
        world.fake?.setBehaviour("slow", { health: "starting" });
        const depends = { depends_on: { slow: { condition: "service_healthy" } } };
        await commit(world, {
          "compose.yaml": composeFile({ slow: service({ healthcheck }), web: service(depends) }),
        });
        await begin(world, world.repository.url);
        await untilShown(world, world.stack, /health/);
        await remove(other, name);
        await begin(world, other.url);
        await untilDecided(world, name);
        await commandTo(world, 0, ["hold", name, "--reason", "keep"]);
        for (const each of await world.containers()) world.fake?.setHealth(each.id, "healthy");
        await untilShown(world, name, /is held by a person/);
        const there = async () => {
          const volumes = await world.engine.findVolumes([`${name}_data`], never);
          return [(await world.containers(name)).length, volumes.length];
        };
        assert.deepEqual(await there(), [1, 1]);
        await commandTo(world, 0, ["resume", name]);
        await pollTo(world, "succeeded", { url: other.url });
        assert.deepEqual(await there(), [0, 0]);
      } finally {
        await world.close();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});
