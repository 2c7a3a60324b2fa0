import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, label, pollTo, states } from "./steps.ts";
import { createWorld, type RunBody, type World } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({
    db: service({ labels: { number } }),
    web: service({ labels: { number }, depends_on: ["db"] }),
  }),
});

/** Waits for a line of the service's log. */
async function untilLogged(world: World, pattern: RegExp): Promise<void> {
  while (!world.lines.some((line) => pattern.test(line.message))) await pause(5);
}

/** The newest run that the service shows, when it is over. */
async function endOfNewestRun(world: World): Promise<RunBody> {
  for (;; await pause(5)) {
    const answer = await world.request("/v1/api/runs?limit=1");
    const [run] = (await answer.json()).content as RunBody[];
    if (run?.status !== "accepted" && run?.status !== "running") return run ?? assert.fail();
  }
}

// That an engine is away its proxy plays, alike before both.
describe("an engine that goes away", () => {
  const engine = "fake";
  it("in the middle of a rollout is waited for, and the rollout goes on when it answers", async () => {
    let onMutation = () => {};
    const world: World = await createWorld({ engine, onMutation: () => onMutation() });
    try {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      onMutation = () => {
        onMutation = () => {};
        world.proxy.setAway(true);
      };
      await commit(world, shop("2"));
      const poll = pollTo(world, "succeeded");
      await untilLogged(world, /^waiting for the engine/);
      // Longer than all attempts of a rollback take together, on the world's clock.
      await world.clock.sleep(12_000, new AbortController().signal);
      const open = rows(world, "SELECT * FROM intents WHERE closed_at IS NULL");
      assert.equal(open.length, 1, "the intent was closed while the engine was away");
      world.proxy.setAway(false);
      await poll;
      assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
      assert.equal(await label(world, "web", "number"), "2");
      assert.equal(await label(world, "db", "number"), "2");
      await pollTo(world, "skipped");
    } finally {
      await world.close();
    }
  });

  it("at the start leaves what was interrupted for later, and nobody has to ask for it", async () => {
    const world = await createWorld({ engine });
    try {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await world.stop();
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      // As a process leaves it that was killed when all was done but the last word.
      database.exec("UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone'");
      database.exec("UPDATE releases SET status = 'applying'");
      database.close();
      world.proxy.setAway(true);
      await world.restart();
      await untilLogged(world, /^interrupted work waits for the engine/);
      world.proxy.setAway(false);
      const open = "SELECT * FROM intents WHERE closed_at IS NULL";
      while (rows(world, open).length > 0) await pause(20);
      assert.deepEqual(rows(world, "SELECT status FROM releases").map((row) => row["status"]), [
        "deployed",
      ]);
      const run = await endOfNewestRun(world);
      const told = run.deployments?.[0];
      assert.ok(told);
      assert.deepEqual([told.stack, told.status], [world.stack, "succeeded"]);
      assert.match(told.message ?? "", /^release 1, whose deployment was interrupted: /);
      assert.equal(run.message, `${world.stack}: ${told.message}`);
      const triggers = "SELECT json_extract(content, '$.trigger') AS it FROM decisions";
      assert.ok(rows(world, triggers).some(({ it }) => it === "recovery"));
    } finally {
      await world.close();
    }
  });
});
