import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, service } from "./compose_text.ts";
import { commandTo } from "./commands.ts";
import { commit, inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

const files = { "compose.yaml": composeFile({ web: service() }) };

/** Levels at which the lines of compose about the stack's container were told. */
function levels(world: World): string[] {
  const told = world.lines.filter(({ message }) => /^Container \S+ +Started/.test(message));
  return [...new Set(told.map((line) => line.level))];
}

describe("CONTAINER_QUIET_DEPLOY", () => {
  for (const [value, level] of [["true", "debug"], ["false", "info"]] as const) {
    it(`${value} tells the engine's progress at ${level}`, () =>
      inWorld("fake", async (world) => {
        await commit(world, files);
        await pollTo(world, "succeeded");
        assert.deepEqual(levels(world), [level]);
      }, { CONTAINER_QUIET_DEPLOY: value }));
  }
});

describe("CONTAINER_SWARM_FEATURES", () => {
  it("true deploys a stack to an engine that manages a swarm, unless told not to", () =>
    inWorld("fake", async (world) => {
      world.fake?.becomeManager();
      await commit(world, files);
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 0);
      await commit(world, files, { name: `${world.stack}-other`, swarm: { enabled: false } });
      await pollTo(world, "succeeded");
      assert.equal((await world.containers(`${world.stack}-other`)).length, 1);
      const { out } = await commandTo(world, 0, ["doctor"]);
      assert.match(out, /^ok +engine .*, manages a swarm: deployments are stacks$/m);
    }));

  it("false deploys with compose whatever mode the engine is in", () =>
    inWorld("fake", async (world) => {
      world.fake?.becomeManager();
      await commit(world, files);
      await pollTo(world, "succeeded");
      assert.equal((await world.containers()).length, 1);
      const { out } = await commandTo(world, 0, ["doctor"]);
      assert.match(
        out,
        /manages a swarm: deployments are containers \(CONTAINER_SWARM_FEATURES\)$/m,
      );
    }, { CONTAINER_SWARM_FEATURES: "false" }));
});
