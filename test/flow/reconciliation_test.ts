import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, label, pollTo, states } from "./steps.ts";
import { engines, type World } from "./world.ts";
import { until } from "./until.ts";

const healthcheck = { test: ["CMD", "test", "!", "-e", "/sick"], interval: "500ms", retries: 1 };
const shop = (v: string, web: Part = {}) => ({
  "compose.yaml": composeFile({ db: service(), web: service({ labels: { v }, ...web }) }),
});

/** Waits until a line was logged so many times. */
async function logged(world: World, pattern: RegExp, times = 1): Promise<void> {
  const count = () => world.lines.filter((line) => pattern.test(line.message)).length;
  await until(() => Promise.resolve(count() >= times));
}

const runs = (world: World, name = "web-1") => async () =>
  (await states(world))[name] === "running";

for (const engine of await engines()) {
  describe(`reconciliation on the ${engine} engine`, () => {
    it("brings a removed container back at the deployed revision, although the branch moved on", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"), { reconciliation: { events: ["destroy"] } });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, shop("2"));
        await docker(world, "rm", "--force", `${world.stack}-web-1`);
        await until(runs(world));
        assert.equal(await label(world, "web", "v"), "1");
        const after = await ids(world);
        assert.notEqual(after["web-1"], before["web-1"]);
        assert.equal(after["db-1"], before["db-1"]);
      }));

    it("starts what died, and leaves what a person stopped", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"), { reconciliation: { events: ["die"] } });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await docker(world, "stop", "--time", "1", `${world.stack}-db-1`);
        await docker(world, "kill", `${world.stack}-web-1`);
        await logged(world, /^repaired release 1: start web$/);
        assert.deepEqual(await ids(world), before);
        assert.deepEqual(await states(world), { "db-1": "exited", "web-1": "running" });
      }));

    it("restarts an unhealthy container as often as it may, and then leaves it alone", () =>
      inWorld(engine, async (world) => {
        const limits = { restart_limit: 2, restart_window: "1h", restart_timeout: 0 };
        await commit(world, shop("1", { healthcheck }), { reconciliation: limits });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const suppressed = /is unhealthy and was restarted 2 times within 3600 s: it is left alone/;
        const told = () => world.lines.filter((line) => suppressed.test(line.message)).length;
        const restarts = () =>
          world.proxy.calls.filter((call) => /^\/containers\/[^/]+\/restart/.test(call.path))
            .length;
        const sicken = async () => {
          if (world.fake !== undefined) world.fake.setHealth(`${world.stack}-web-1`, "unhealthy");
          else await docker(world, "exec", `${world.stack}-web-1`, "touch", "/sick");
        };
        for (let count = 1; count <= 2; count++) {
          await sicken();
          await logged(world, /^restarted: container \S+-web-1 is unhealthy$/, count);
          // A real container stays sick, which counts by itself.
          if (world.kind === "real") break;
        }
        if (world.kind === "fake") await sicken();
        await until(() => Promise.resolve(told() > 0));
        if (world.fake !== undefined) {
          // Its health goes to and fro: at a good moment it is not well, either.
          world.fake.setHealth(`${world.stack}-web-1`, "healthy");
          const { out } = await commandTo(world, 0, ["status"]);
          assert.match(out, /^drifted .* unhealthy .*web-1 became unhealthy .* is left alone/m);
        }
        assert.equal(restarts(), 2);
        assert.equal(told(), 1);
        assert.deepEqual(await ids(world), before);
      }));

    // The rest is about us. What is watched is a matter of the configuration.
    if (engine === "real") return;

    it("does nothing about what its configuration does not name, nor about what the API stopped", () =>
      inWorld(engine, async (world) => {
        const events = ["die", "stop", "kill", "destroy"];
        await commit(world, shop("1"), { reconciliation: { events } });
        const other = `${world.stack}-other`;
        await world.repository.commit({
          "other.yaml": composeFile({ a: service() }),
          ".stackwright.yaml": [
            `{name: ${world.stack}, reconciliation: {events: [die, stop, kill, destroy]}}`,
            `{name: ${other}, compose_files: [other.yaml], reconciliation: false}`,
          ].join("\n---\n"),
        });
        await pollTo(world, "succeeded");
        const stop = await world.request(`/v1/api/project/${world.stack}/stop`, { method: "POST" });
        assert.equal(stop.status, 200);
        await docker(world, "kill", `${other}-a-1`);
        world.proxy.reset();
        // Whatever is done is done after the pause that follows the last event; a run of another kind
        // waits for the same lock.
        await world.clock.sleep(5_000, new AbortController().signal);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await states(world), { "db-1": "exited", "web-1": "exited" });
        assert.deepEqual(await states(world, other), { "a-1": "exited" });
      }));
  });
}

describe("reconciliation", () => {
  it("mends after a start what happened while nobody looked, also of a stack that is paused", () =>
    inWorld("fake", async (world) => {
      const reconciliation = { events: ["destroy"] };
      await commit(world, shop("1"), { reconciliation });
      await pollTo(world, "succeeded");
      await commit(world, shop("2"), { reconciliation, pause: true });
      await pollTo(world, "skipped");
      await world.stop();
      world.fake?.removeContainer(`${world.stack}-web-1`);
      await world.restart();
      await until(runs(world));
      assert.equal(await label(world, "web", "v"), "1");
    }));

  it("goes on when the engine was away, and mends what was missed", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), { reconciliation: { events: ["destroy"] } });
      await pollTo(world, "succeeded");
      world.proxy.setAway(true);
      world.fake?.removeContainer(`${world.stack}-web-1`);
      world.proxy.setAway(false);
      await until(runs(world));
    }));

  it("says why a repair failed, and when it is made again", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), { reconciliation: { events: ["destroy"] } });
      await pollTo(world, "succeeded");
      world.proxy.reset({ kind: "error", at: 1, among: "mutating", lasts: true });
      world.fake?.removeContainer(`${world.stack}-web-1`);
      const shown = async () => {
        const answer = await world.request(`/v1/api/deployment/${world.stack}`);
        return (await answer.json()).content;
      };
      let detail = await shown();
      await until(async () => (detail = await shown()).retry_at !== undefined);
      assert.match(detail.why, /container \S+-web-1 could not be made/);
      assert.equal(detail.decisions[0].outcome.retry_at, detail.retry_at);
      world.proxy.reset();
      await until(runs(world));
    }));

  it("does not touch a stack that was destroyed", () =>
    inWorld("fake", async (world) => {
      const reconciliation = { events: ["die", "destroy", "stop", "kill"] };
      await commit(world, shop("1"), { reconciliation });
      await pollTo(world, "succeeded");
      await commit(world, {}, { reconciliation, destroy: true });
      await pollTo(world, "succeeded");
      await world.clock.sleep(5_000, new AbortController().signal);
      assert.deepEqual(await world.containers(), []);
    }));
});
