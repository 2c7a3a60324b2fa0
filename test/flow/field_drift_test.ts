import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo } from "./steps.ts";
import { decidingEngine, IMAGE, type World } from "./world.ts";

const SHOP = {
  "compose.yaml": composeFile({
    db: service(),
    web: service({ mem_limit: "64m", memswap_limit: "64m", restart: "unless-stopped" }),
  }),
};

/** Waits until the API tells this drift of the stack, one line for each field, however long that takes. */
async function driftIs(world: World, expected: readonly string[]): Promise<void> {
  for (;;) {
    const answer = await world.request(`/v1/api/deployments?query=${world.stack}`);
    const { drift = [] } = (await answer.json()).content.deployments[0] ?? {};
    const lines = drift.map((each: Record<string, string>) =>
      `${each["container"]?.replace(`${world.stack}-`, "")} ${each["field"]} ${each["found"]}`
    );
    if (JSON.stringify(lines) === JSON.stringify(expected)) return;
    await pause(20);
  }
}

async function metric(world: World): Promise<string | undefined> {
  const text = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
  return /^service_stack_drifted_fields\{.*\} (\d+)$/m.exec(text)?.[1];
}

/** Changes limits as people do. */
const update = (world: World, name: string, ...how: readonly string[]) =>
  docker(world, "update", ...how, `${world.stack}-${name}`);

for (const engine of await decidingEngine()) {
  describe(`what a person changes of containers by hand, on the ${engine} engine`, () => {
    it("is told, field by field, and is over when it is changed back", () =>
      inWorld(engine, async (world) => {
        await commit(world, SHOP);
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await driftIs(world, []);
        await update(world, "web-1", "--memory", "48m", "--restart", "no");
        await driftIs(world, ["web-1 mem_limit 48 MiB", "web-1 restart no"]);
        assert.equal(await metric(world), "2");
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        const line = `container ${world.stack}-web-1: mem_limit: 48 MiB instead of 64 MiB`;
        assert.ok(out.includes(`\ndrift: ${line}\n`), out);
        assert.match(
          out,
          /\ndrifted, healthy 2\/2: changed by hand: .*\n(?:drift: .*\n)+ {2}mended by/,
        );
        const { out: status } = await commandTo(world, 0, ["status", world.stack]);
        assert.match(status, /^drifted .* changed by hand: .*mem_limit.* \(and 1 more\)$/m);
        assert.equal(world.lines.filter(({ message }) => message.startsWith(line)).length, 1);
        await pollTo(world, "skipped");
        await update(world, "web-1", "--memory", "64m", "--restart", "unless-stopped");
        await driftIs(world, []);
        assert.deepEqual(await ids(world), before);
      }));

    it("is no orphan that an adoption kept, which goes with the next commit, also where it is repaired", () =>
      inWorld(engine, async (world) => {
        await startByHand(world, composeFile({ db: service(), gone: service() }));
        const repaired = { reconciliation: { drift: "repair" } };
        await commit(world, { "compose.yaml": composeFile({ db: service() }) }, repaired);
        await pollTo(world, "succeeded");
        await driftIs(world, ["gone-1 service gone"]);
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(out, /; container \S+gone-1 .* is an orphan that was kept: /);
        assert.doesNotMatch(out, /mended by|drift:/);
        await world.restart();
        await pollTo(world, "skipped");
        await pause(300);
        assert.deepEqual(Object.keys(await ids(world)), ["db-1", "gone-1"]);
        const changed = {
          "compose.yaml": composeFile({ db: service({ environment: { A: "1" } }) }),
        };
        await commit(world, changed, repaired);
        await pollTo(world, "succeeded");
        assert.deepEqual(Object.keys(await ids(world)), ["db-1"]);
      }));

    it("stays where it was added and the deployment removes no orphans, also where drift is repaired", () =>
      inWorld(engine, async (world) => {
        const kept = { reconciliation: { drift: "repair" }, remove_orphans: false };
        await commit(world, SHOP, kept);
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const labels = ["project=" + world.stack, "service=extra", "oneoff=False"]
          .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
        await docker(world, "create", "--name", `${world.stack}-extra`, ...labels, IMAGE, "true");
        await driftIs(world, ["extra service extra"]);
        await update(world, "web-1", "--memory", "48m");
        while ((await ids(world))["web-1"] === before["web-1"]) await pause(20);
        await driftIs(world, ["extra service extra"]);
        // A look at everything, and a poll, leave it, too.
        await world.restart();
        await pollTo(world, "skipped");
        assert.deepEqual(Object.keys(await ids(world)).sort(), ["db-1", "extra", "web-1"]);
      }));

    it("is mended where drift is repaired, once and with one container", () =>
      inWorld(engine, async (world) => {
        await commit(world, SHOP, { reconciliation: { drift: "repair" } });
        await pollTo(world, "succeeded");
        const before = await ids(world);
        const labels = ["project=" + world.stack, "service=extra", "oneoff=False"]
          .flatMap((each) => ["--label", `com.docker.compose.${each}`]);
        await docker(world, "create", "--name", `${world.stack}-extra`, ...labels, IMAGE, "true");
        await driftIs(world, ["extra service extra"]);
        await update(world, "web-1", "--memory", "48m");
        // What was added goes last, when the others have proved healthy.
        while ((await ids(world))["extra"] !== undefined) await pause(20);
        await driftIs(world, []);
        const repaired = await ids(world);
        assert.notEqual(repaired["web-1"], before["web-1"]);
        assert.equal(repaired["db-1"], before["db-1"]);
        await docker(world, "rename", `${world.stack}-db-1`, `${world.stack}-mine`);
        while ((await ids(world))["db-1"] === undefined) await pause(20);
        assert.deepEqual(await ids(world), repaired);
      }));
  });
}

describe("a container that the engine restarts for ever", () => {
  it("is drift, told once, though it runs at most looks", () =>
    inWorld("fake", async (world) => {
      await commit(world, SHOP);
      await pollTo(world, "succeeded");
      world.fake?.setBehaviour("web", { exit: 7, afterMs: 300 });
      await docker(world, "restart", `${world.stack}-web-1`);
      const told = () =>
        world.lines.filter(({ message }) => /restarted by the engine/.test(message));
      while (told().length === 0) await pause(20);
      const { out } = await commandTo(world, 0, ["status", world.stack]);
      assert.match(
        out,
        /^drifted .* unhealthy 1\/2 .*web-1 was restarted by the engine \d+ times/m,
      );
      assert.equal(await metric(world), "1");
      await pause(2000);
      assert.equal(told().length, 1);
      assert.equal(told()[0]?.level, "warning");
    }));
});

describe("what a person changes of containers by hand", () => {
  it("is told without the secrets of the stack, by which nothing is found", () =>
    inWorld("fake", async (world) => {
      const secret = "47114711";
      await commit(world, {
        "compose.yaml": composeFile({ web: service({ restart: "on-failure:${DB_PASSWORD}" }) }),
        ".env": `DB_PASSWORD=${secret}\n`,
      });
      await pollTo(world, "succeeded");
      await update(world, "web-1", "--restart", "no");
      await driftIs(world, ["web-1 restart no"]);
      const all = await (await world.request("/v1/api/deployments")).text();
      assert.match(all, /changed by hand: [^"]*restart: no instead of on-failure:\*\*\*/);
      assert.ok(!world.lines.some(({ message }) => message.includes(secret)));
      const found = await (await world.request(`/v1/api/deployments?query=${secret}`)).json();
      assert.deepEqual(found.content.deployments, []);
    }));

  it("is not looked for where drift is ignored", () =>
    inWorld("fake", async (world) => {
      await commit(world, SHOP, { reconciliation: { drift: "ignore", events: ["update"] } });
      await pollTo(world, "succeeded");
      const before = await ids(world);
      // Its events ask for a new container: afterwards it was looked at, and nothing was found.
      await update(world, "web-1", "--memory", "48m");
      while ((await ids(world))["web-1"] === before["web-1"]) await pause(20);
      await driftIs(world, []);
      assert.equal(await metric(world), undefined);
    }));
});
