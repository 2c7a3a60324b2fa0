import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Commands, systemCommands } from "../../src/system/mod.ts";
import { STACK_LABELS } from "../../src/deploy/mod.ts";
import { rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { beginRollback, withOther } from "./other_process.ts";
import { commit, pollTo, states } from "./steps.ts";
import { createWorld, IMAGE, type World } from "./world.ts";

const { signal } = new AbortController();
const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ deploy: { labels: { number } } }) }),
});

/** A world whose engine manages a swarm; `atRender` may be set to what happens once when compose renders. */
async function inSwarm(
  test: (world: World, hooks: { atRender?: (() => void) | undefined }) => Promise<void>,
): Promise<void> {
  const hooks: { atRender?: (() => void) | undefined } = {};
  const commands: Commands = {
    ...systemCommands,
    async run(command, within) {
      if (command.argv.includes("config")) {
        hooks.atRender?.();
        hooks.atRender = undefined;
      }
      return await systemCommands.run(command, within);
    },
  };
  const world = await createWorld({ engine: "fake", commands });
  world.fake?.becomeManager();
  try {
    await test(world, hooks);
  } finally {
    await world.close();
  }
}

/** Requires that a stack is one service, whose label says `number`, and no container of another mode. */
async function requireService(world: World, number: string): Promise<void> {
  const found = await world.engine.swarm.services(
    { [STACK_LABELS.namespace]: world.stack },
    signal,
  );
  assert.deepEqual(found.map(({ name, labels }) => [name, labels["number"]]), [
    [`${world.stack}_web`, number],
  ]);
  assert.deepEqual(await states(world), {});
}

describe("a swarm whose engine is under load", () => {
  it("has not made a release good whose task ended while it was said to run", () =>
    inSwarm(async (world) => {
      const web = (more: object) => ({
        "compose.yaml": composeFile({
          web: { image: IMAGE, deploy: { restart_policy: { condition: "none" }, ...more } },
        }),
      });
      await commit(world, web({}), { swarm: { enabled: false } });
      await pollTo(world, "succeeded");
      // As found on a real one.
      world.fake?.setBehaviour(`${world.stack}_web`, { exit: 3, startsForMs: 1500, afterMs: 2800 });
      await commit(world, web({ labels: { now: "a stack" } }));
      const [target] = (await pollTo(world, "failed")).deployments ?? [];
      assert.match(target?.message ?? "", /its task failed: task: non-zero exit \(3\)/);
      assert.match(target?.message ?? "", /put back: restored web/);
    }));
});

describe("a swarm that is not up yet after a reboot", () => {
  for (const state of ["locked", "pending", "error"]) {
    it(`keeps its stacks as services when it comes up (${state})`, () =>
      inSwarm(async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        await world.stop();
        world.fake?.saySwarm(state);
        await world.restart();
        assert.match(JSON.stringify(await pollTo(world, "failed")), /cannot manage now/);
        world.fake?.saySwarm(undefined);
        await pollTo(world, "skipped");
        await requireService(world, "1");
      }));
  }

  it("gets no containers of a stack that nothing is recorded of: it may have services", () =>
    inSwarm(async (world) => {
      world.fake?.saySwarm("locked");
      await commit(world, shop("1"));
      assert.match(JSON.stringify(await pollTo(world, "failed")), /cannot manage now/);
      assert.deepEqual(await states(world), {});
      world.fake?.saySwarm(undefined);
      await pollTo(world, "succeeded");
      await requireService(world, "1");
    }));

  it("gets no containers beside services of their name, of which nothing is recorded", () =>
    inSwarm(async (world) => {
      world.fake?.saySwarm("locked");
      await commit(world, shop("1"), { swarm: { enabled: false } });
      assert.match(JSON.stringify(await pollTo(world, "failed")), /may be in a swarm which/);
      assert.deepEqual(await states(world), {});
      world.fake?.saySwarm(undefined);
      await pollTo(world, "succeeded");
      assert.deepEqual(await states(world), { "web-1": "running" });
    }));

  it("leaves a rollback that was cut off open, which is finished when it is up", () =>
    inSwarm(async (world) => {
      const open = () => rows(world, "SELECT id FROM intents WHERE closed_at IS NULL").length;
      for (const number of ["1", "2"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      await withOther(world, (other) => Promise.resolve(void beginRollback(world, other, 1)));
      await world.stop();
      world.fake?.saySwarm("locked");
      await world.restart();
      await pollTo(world, "failed");
      assert.equal(open(), 1);
      world.fake?.saySwarm(undefined);
      await pollTo(world, "skipped");
      assert.equal(open(), 0);
      await requireService(world, "1");
      assert.equal(rows(world, "SELECT name FROM pins").length, 1);
    }));
});

describe("a stack that is to become containers", () => {
  it("stays services where its engine manages their swarm again by then", () =>
    inSwarm(async (world, hooks) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      world.advance(61_000);
      world.fake?.saySwarm("inactive");
      hooks.atRender = () => world.fake?.saySwarm(undefined);
      await commit(world, shop("2"));
      await pollTo(world, "succeeded");
      await requireService(world, "2");
    }));
});
