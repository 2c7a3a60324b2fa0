import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile } from "./compose_text.ts";
import { commit, pollTo } from "./steps.ts";
import { createWorld, IMAGE } from "./world.ts";

describe("a swarm whose engine is under load", () => {
  it("has not made a release good whose task ended while it was said to run", async () => {
    const world = await createWorld({ engine: "fake" });
    world.fake?.becomeManager();
    try {
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
    } finally {
      await world.close();
    }
  });
});
