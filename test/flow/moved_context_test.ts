import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { describe, it } from "node:test";
import { writeContext } from "../fakes/context_files.ts";
import { commandTo, rows } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, ids, interrupt, inWorld, label, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

const shop = (number: string) => ({
  "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
});
const RECONCILED = { reconciliation: { enabled: true, events: ["die", "destroy"] } };
const BY_SAME = { ...RECONCILED, context: "same" };
const never = new AbortController().signal;

/** Makes a context of the world's engine, besides the default one. */
function second(world: World): void {
  writeContext(world.env["DOCKER_CONFIG"] ?? "", "same", { host: world.env["DOCKER_HOST"] ?? "" });
}

/** Deploys the first release by the default context, and the second one by the other context of its engine. */
async function moved(world: World): Promise<void> {
  second(world);
  await commit(world, shop("1"), RECONCILED);
  await pollTo(world, "succeeded");
  await commit(world, shop("2"), BY_SAME);
  await pollTo(world, "succeeded");
}

const number = (world: World) => label(world, "web", "number");

/** The numbers of the stack's releases by the default context. */
const own = (world: World) =>
  rows(world, "SELECT number FROM releases WHERE context = 'default' ORDER BY number")
    .map((row) => row["number"]);

async function removeContainers(world: World): Promise<void> {
  for (const each of await world.containers()) {
    await world.engine.removeContainer(each.id, { force: true, volumes: false }, never);
  }
}

describe("a stack whose context changed to another one of its engine", () => {
  it("is repaired by the new one alone, and said to be there", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      await removeContainers(world);
      await until(async () => Object.keys(await ids(world)).length > 0);
      await until(() => world.lines.some(({ message }) => /^repaired release 1/.test(message)));
      await pause(100);
      assert.equal(await number(world), "2");
      assert.deepEqual(own(world), [1]);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(out, /^orphaned .* was deployed by context same since/m);
      const theirs = await commandTo(world, 0, ["status", "--context", "same", world.stack]);
      assert.match(theirs.out, /^synced /m);
    }));

  for (const wish of ["hold", "stop"]) {
    it(`is not deployed by the new one while a person has it under a ${wish}`, () =>
      inWorld("fake", async (world) => {
        second(world);
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        if (wish === "hold") await commandTo(world, 0, ["hold", world.stack]);
        else {
          const path = `/v1/api/project/${world.stack}/stop`;
          assert.equal((await world.request(path, { method: "POST" })).status, 200);
        }
        await commit(world, shop("2"), { context: "same" });
        await pollTo(world, "skipped");
        assert.deepEqual(await ids(world), before);
      }));
  }

  it("is neither rolled back nor removed by the former one, which can be forgotten", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      const before = await ids(world);
      const rollback = await commandTo(world, 1, ["rollback", world.stack, "1"]);
      assert.match(rollback.err, /is not rolled back: .* by context same since/);
      const path = `/v1/api/project/${world.stack}`;
      const removed = await world.request(path, { method: "DELETE" });
      assert.equal(removed.status, 409);
      assert.match(await removed.text(), /is not removed: .* by context same since.*forget/);
      await commit(world, shop("2"), { destroy: { enabled: true } });
      const destroyed = JSON.stringify(await pollTo(world, "failed"));
      assert.match(destroyed, /is not destroyed: .* by context same since/);
      await commandTo(world, 0, ["forget", world.stack]);
      assert.deepEqual(await ids(world), before);
      const { out } = await commandTo(world, 0, ["status"]);
      assert.doesNotMatch(out, /^orphaned /m);
      const theirs = await world.request(`${path}?context=same`, { method: "DELETE" });
      assert.equal(theirs.status, 200, await theirs.text());
      assert.deepEqual(await ids(world), {});
    }));

  it("is not taken up by the former one, whose deployment was cut off before", () =>
    inWorld("fake", async (world) => {
      second(world);
      for (const each of ["1", "3"]) {
        await commit(world, shop(each));
        await pollTo(world, "succeeded");
      }
      await commit(world, shop("2"), { context: "same" });
      await pollTo(world, "succeeded");
      await world.stop();
      interrupt(world, 2);
      await world.restart();
      await until(() => rows(world, "SELECT * FROM intents WHERE closed_at IS NULL").length === 0);
      const [cut] = rows(world, "SELECT * FROM releases WHERE context = 'default' AND number = 2");
      assert.equal(cut?.["status"], "failed");
      assert.match(String(cut?.["message"]), /^interrupted, and .* by context same since/);
      assert.equal(await number(world), "2");
    }));

  it("comes back when its context does, also where nothing else changes", () =>
    inWorld("fake", async (world) => {
      await moved(world);
      await commit(world, shop("3"), RECONCILED);
      await pollTo(world, "succeeded");
      assert.equal(await number(world), "3");
      const { out } = await commandTo(world, 0, ["status", "--context", "same", world.stack]);
      assert.match(out, /^orphaned .* was deployed by context default since/m);
      await commit(world, shop("3"), BY_SAME);
      await pollTo(world, "skipped");
      const removed = await world.request(`/v1/api/project/${world.stack}`, { method: "DELETE" });
      assert.equal(removed.status, 409, await removed.text());
      await commit(world, shop("3"), RECONCILED);
      await pollTo(world, "skipped");
      const { out: back } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(back, /^synced /m);
    }));
});
