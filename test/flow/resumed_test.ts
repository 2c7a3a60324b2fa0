import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { commandTo, rows } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { commit, interrupt, inWorld, pollTo, states } from "./steps.ts";
import { until } from "./until.ts";
import { createWorld, type World } from "./world.ts";

/** `name` is in a network that is to be another one when it becomes internal. */
const inLan = (name: string, internal: boolean) => ({
  "compose.yaml": composeFile({ [name]: service({ networks: ["lan"] }) }, {
    networks: { lan: { internal } },
  }),
});

const open = (world: World) => rows(world, "SELECT * FROM intents WHERE closed_at IS NULL").length;

/** A world that was started in the middle of a deployment whose health check does not end for a day. */
async function withHanging(test: (world: World) => Promise<void>): Promise<void> {
  const world = await createWorld({ engine: "fake", speed: 600 });
  const shop = (number: string) => {
    const healthcheck = { test: ["CMD", "true"] };
    const web = service({ labels: { number }, healthcheck });
    const other = configFile({ name: `${world.stack}-other` });
    return { "compose.yaml": composeFile({ web }), ".stackwright.other.yaml": other };
  };
  try {
    for (const number of ["1", "2", "1"]) {
      await commit(world, shop(number), { timeout: "24h" });
      await pollTo(world, "succeeded");
    }
    await commit(world, shop("2"), { timeout: "24h" });
    await world.stop();
    interrupt(world, 2);
    world.fake?.setBehaviour(`${world.stack}-web-1`, { health: "starting" });
    await world.restart();
    await test(world);
  } finally {
    await world.close();
  }
}

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
      interrupt(world, 2);
      await world.restart();
      // Polls do not wait for interrupted work that takes long by the world's clock, which runs ahead.
      await until(() => open(world) === 0);
      const [second] = rows(world, "SELECT status, message FROM releases WHERE number = 2");
      assert.equal(second?.["status"], "deployed", String(second?.["message"]));
      assert.deepEqual(await states(world), { "shop-1": "running" });
    }));

  it("is finished by an apply of its own stack, and left alone by one of another", () =>
    inWorld("fake", async (world) => {
      const shop = (number: string) => ({
        "compose.yaml": composeFile({ web: service({ labels: { number } }) }),
        ".stackwright.other.yaml": configFile({ name: `${world.stack}-other` }),
      });
      for (const number of ["1", "2", "1"]) {
        await commit(world, shop(number));
        await pollTo(world, "succeeded");
      }
      await commit(world, shop("2"));
      await world.stop();
      interrupt(world, 2);
      const apply = ["apply", world.repository.url, "--ref", "main"];
      const other = await commandTo(world, 0, [...apply, "--target", "other"]);
      assert.doesNotMatch(other.err, /resuming/);
      assert.deepEqual(await states(world, `${world.stack}-other`), { "web-1": "running" });
      assert.equal(open(world), 1);
      const { out, err } = await commandTo(world, 0, apply);
      assert.match(err, /resuming the deployment of release 2, which was interrupted/);
      assert.equal(open(world), 0);
      const finished = "release 2, whose deployment was interrupted: recreate web";
      assert.match(out, new RegExp(`: skipped: ${finished}; then no changes$`, "m"));
      const history = await commandTo(world, 0, ["history", world.stack]);
      assert.match(history.out, new RegExp(`${finished}$`, "m"));
      const [second] = rows(world, "SELECT status FROM releases WHERE number = 2");
      assert.equal(second?.["status"], "deployed");
    }));

  it("keeps others waiting for half a minute at most, whatever its own timeout", () =>
    withHanging(async (world) => {
      await pollTo(world, "succeeded", { target: "other" });
      assert.equal(open(world), 1);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(out, /^deploying /m);
      assert.deepEqual(await states(world, `${world.stack}-other`), { "web-1": "running" });
      // Polls of the settings wait no longer either, and it goes on.
      await world.app.polled;
      world.fake?.setBehaviour(`${world.stack}-web-1`, { health: "healthy" });
      world.fake?.setHealth(`${world.stack}-web-1`, "healthy");
      while (open(world) > 0) await pause(5);
      await pollTo(world, "skipped");
      const finished = /^deployed: release 2, whose deployment was interrupted/;
      assert.ok(world.lines.some(({ message }) => finished.test(message)));
    }));

  it("does not say that there were no changes where all its containers had been made", () =>
    inWorld("fake", async (world) => {
      await commit(world, inLan("site", false));
      await pollTo(world, "succeeded");
      await world.stop();
      interrupt(world, 1);
      await world.restart();
      await until(() => open(world) === 0);
      const { out } = await commandTo(world, 0, ["explain", world.stack]);
      const said =
        "release 1, whose deployment was interrupted: its containers had been made already";
      assert.match(out, new RegExp(`outcome: succeeded: ${said}$`, "m"));
    }));

  it("stays open when the process ends while others go on beside it", () =>
    withHanging(async (world) => {
      await world.app.polled;
      await world.stop();
      assert.equal(open(world), 1);
      // It may have been stopped before it made its container.
      world.fake?.setBehaviour(`${world.stack}-web-1`, { health: "healthy" });
      world.fake?.setHealth(`${world.stack}-web-1`, "healthy");
      await world.restart();
      await pollTo(world, "skipped");
      assert.equal(open(world), 0);
    }));
});
