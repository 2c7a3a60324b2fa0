import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, states } from "./steps.ts";

/** `name` is in a network that is to be another one when it becomes internal. */
const inLan = (name: string, internal: boolean) => ({
  "compose.yaml": composeFile({ [name]: service({ networks: ["lan"] }) }, {
    networks: { lan: { internal } },
  }),
});

describe("a deployment whose process was killed", () => {
  it("renames a service at the next start although its network is made anew for it", () =>
    inWorld("fake", async (world) => {
      const [before, after] = [inLan("site", false), inLan("shop", true)];
      for (const files of [before, after, before]) {
        await commit(world, files);
        await pollTo(world, "succeeded");
      }
      assert.deepEqual(await states(world), { "site-1": "running" });
      await commit(world, after);
      await world.stop();
      // The ledger as a kill leaves it right before the first change of the second release.
      const database = new DatabaseSync(join(world.dataDir, "state.db"));
      database.exec(
        "UPDATE intents SET closed_at = NULL, outcome = NULL, owner = '1:gone' WHERE release_id = " +
          "(SELECT id FROM releases WHERE number = 2)",
      );
      database.exec("UPDATE releases SET status = 'applying' WHERE number = 2");
      database.close();
      await world.restart();
      await world.app.polled;
      const [second] = rows(world, "SELECT status, message FROM releases WHERE number = 2");
      assert.equal(second?.["status"], "deployed", String(second?.["message"]));
      assert.deepEqual(await states(world), { "shop-1": "running" });
    }));
});
