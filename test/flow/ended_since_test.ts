import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, type Part, service } from "./compose_text.ts";
import { until } from "./until.ts";
import { commit, ids, inWorld, pollTo, reasons, states } from "./steps.ts";

const DAY = { timeout: "24h" };

describe("what has ended with 0 since a deployment that failed", () => {
  /** A service that ends when it is told to, or when it has done its work, and is not restarted. */
  const shop = (number: string) => ({
    "compose.yaml": composeFile({
      web: service({ labels: { number }, healthcheck: { test: ["CMD", "true"] } }),
      once: service({ restart: "no" }),
    }),
  });

  it("is not started once more by the next one, where it ran on beside it", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), DAY);
      await pollTo(world, "succeeded");
      world.fake?.setBehaviour("web", { exit: 3, afterMs: 0 });
      await commit(world, shop("2"), DAY);
      await pollTo(world, "failed");
      assert.equal((await states(world))["once-1"], "running");
      world.fake?.crash((await ids(world))["once-1"] ?? "", 0);
      world.fake?.setBehaviour("web", "run");
      await commit(world, shop("3"), DAY);
      const next = await pollTo(world, "succeeded");
      assert.deepEqual(await states(world), { "web-1": "running", "once-1": "exited" });
      assert.equal(reasons(next, "once"), "its inputs are unchanged");
    }, { DEPLOY_ROLLBACK: "false" }));

  it("is not started once more where it ended while that went on", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), DAY);
      await pollTo(world, "succeeded");
      world.fake?.setBehaviour("web", { health: "starting" });
      await commit(world, shop("2"), DAY);
      const failing = pollTo(world, "failed");
      let second = "";
      await until(async () => {
        const isNew = ({ labels, state }: { labels: Part; state: string }) =>
          labels["number"] === "2" && state === "running";
        second = (await world.containers()).find(isNew)?.id ?? "";
        return second !== "";
      });
      world.fake?.crash((await ids(world))["once-1"] ?? "", 0);
      world.fake?.setHealth(second, "unhealthy");
      await failing;
      world.fake?.setBehaviour("web", "run");
      await commit(world, shop("3"), DAY);
      await pollTo(world, "succeeded");
      assert.deepEqual(await states(world), { "web-1": "running", "once-1": "exited" });
    }, { DEPLOY_ROLLBACK: "false" }));

  it("is started by the next one where the deployment had stopped it", () =>
    inWorld("fake", async (world) => {
      const both = (number: string, once = "1") => ({
        "compose.yaml": composeFile({
          once: service({ restart: "no", labels: { number: once } }),
          web: service({ labels: { number }, depends_on: ["once"] }),
        }),
      });
      world.fake?.setBehaviour("once", { stopsWith: 0 });
      await commit(world, both("1"), DAY);
      await pollTo(world, "succeeded");
      // Stopped to be replaced, and the engine then refuses its successor.
      world.fake?.setBehaviour("once", { refuse: "no space left" });
      await commit(world, both("2", "2"), DAY);
      await pollTo(world, "failed");
      world.fake?.setBehaviour("once", "run");
      await commit(world, both("1"), DAY);
      await pollTo(world, "succeeded");
      assert.deepEqual(await states(world), { "once-1": "running", "web-1": "running" });
    }, { DEPLOY_ROLLBACK: "false" }));
});
