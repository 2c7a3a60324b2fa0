import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService } from "./bad_service.ts";
import { automaticPollTo, commandTo, rows } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, label, pollTo, replaced, states } from "./steps.ts";
import { engines, type RunBody, type World } from "./world.ts";

function shop(number: string, more: Part = {}): Record<string, string> {
  return {
    "compose.yaml": composeFile({
      db: service({ restart: "always" }),
      web: service({ labels: { number }, volumes: ["./page.html:/page.html:ro"], ...more }),
    }),
    "page.html": `page ${number}`,
  };
}

/** The only target of a run. */
function target(run: RunBody) {
  const [only] = run.deployments ?? [];
  assert.ok(only, JSON.stringify(run));
  return only;
}

const PAUSED = { pause: true };

for (const engine of await engines()) {
  describe(`a paused stack on the ${engine} engine`, () => {
    it("gets back what is missing of the release that is deployed, and nothing of a newer one", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, shop("2", { environment: { NEW: "1" } }), PAUSED);
        await docker(world, "rm", "--force", `${world.stack}-web-1`);
        await docker(world, "stop", `${world.stack}-db-1`);

        const run = await automaticPollTo(world, "skipped");
        const { reason, services, message } = target(run);
        const repaired =
          `deployment ${world.stack} is paused; repaired release 1: start db; create web`;
        assert.deepEqual([reason, message], [`paused: ${repaired}`, repaired]);
        assert.deepEqual(services?.map((each) => [each.name, each.action]), [
          ["db", "start"],
          ["web", "create"],
        ]);
        assert.equal(await label(world, "web", "number"), "1");
        assert.deepEqual(await states(world), { "db-1": "running", "web-1": "running" });
        assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
        if (engine === "real") {
          const page = await docker(world, "exec", `${world.stack}-web-1`, "cat", "/page.html");
          assert.equal(page, "page 1");
        }
        const { out } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(out, /: repair \(paused\): deployment \S+ is paused; release 1 is repaired: /);
        assert.match(out, /^ {2}web: create: its container is missing$/m);
        assert.match(out, /^ {2}db: start: container \S+-db-1 is exited$/m);

        world.proxy.reset();
        await automaticPollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
        await commit(world, {}, {});
        await automaticPollTo(world, "succeeded");
        assert.equal(await label(world, "web", "number"), "2");
      }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("is not updated, by no trigger, says so, and goes on when the pause ends", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, shop("2"), PAUSED);
        world.proxy.reset();
        const reason = `paused: deployment ${world.stack} is paused`;
        assert.equal(target(await automaticPollTo(world, "skipped")).reason, reason);
        const { status, body, run } = await world.poll();
        assert.deepEqual([status, body["content"], run.status], [202, reason, "skipped"]);
        assert.equal(target(run).reason, reason);
        const applied = await commandTo(world, 2, ["apply", world.repository.url]);
        assert.match(applied.out, /: skipped: deployment \S+ is paused\n/);
        const planned = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.match(planned.out, /: deployment \S+ is paused; waiting: recreate web\n/);
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);
        await commit(world, { "compose.yaml": "services: {web: {privileged: 7}}\n" }, PAUSED);
        const broken = await commandTo(world, 0, ["plan", world.repository.url]);
        assert.match(
          broken.out,
          /is paused; waiting: what cannot be deployed as it is: .*web\.privileged/,
        );
        await commit(world, shop("2"), {});
        await automaticPollTo(world, "succeeded");
        assert.equal(await label(world, "web", "number"), "2");
      }));

    it("that was stopped over the API says since when, and its plan what waits", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("1"));
        await pollTo(world, "succeeded");
        const stop = await world.request(`/v1/api/project/${world.stack}/stop`, { method: "POST" });
        assert.equal(stop.status, 200);
        const plan = ["plan", world.repository.url];
        const same = await commandTo(world, 0, plan);
        assert.match(same.out, /was stopped over the API at .*\/start\n/);
        await commit(world, shop("2"));
        const { out } = await commandTo(world, 2, plan);
        assert.match(out, /was stopped over the API at .*\/start; waiting: .*recreate web/);
        assert.match(out, /^-.*number: "1"\n\+.*number: "2"$/m);
        const status = await commandTo(world, 0, ["status", world.stack]);
        assert.match(
          status.out,
          /^held [\s\S]* was stopped over the API at [\s\S]*project\/\S+\/start/m,
        );
        const explained = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(explained.out, /^held, .* was stopped over the API at /m);
        // A poll sees the new commit, and leaves it; the start does not look at commits.
        await pollTo(world, "skipped");
        const start = `/v1/api/project/${world.stack}/start`;
        assert.equal((await world.request(start, { method: "POST" })).status, 200);
        const started = await commandTo(world, 0, ["status", world.stack]);
        assert.match(started.out, /^waiting [\s\S]* release 1 runs; the next poll looks at newer/m);
        await pollTo(world, "succeeded");
        assert.equal((await world.request(start, { method: "POST" })).status, 200);
        const synced = await commandTo(world, 0, ["status", world.stack]);
        assert.match(synced.out, /^synced [\s\S]* release 2 runs$/m);
      }));

    it("that was rolled back is repaired to the release it was put back to", () =>
      inWorld(engine, async (world) => {
        for (const number of ["1", "2"]) {
          await commit(world, shop(number));
          await pollTo(world, "succeeded");
        }
        await commandTo(world, 0, ["rollback", world.stack]);
        await docker(world, "rm", "--force", `${world.stack}-web-1`);
        const run = await automaticPollTo(world, "skipped");
        assert.match(
          target(run).reason ?? "",
          /^paused: rolled back to release 1; .*; repaired release 3: create web$/,
        );
        assert.equal(await label(world, "web", "number"), "1");
        assert.equal(rows(world, "SELECT * FROM pins").length, 1, "it stays pinned");
        world.proxy.reset();
        await automaticPollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));
  });
}

describe("a paused stack", () => {
  it("that never ran is not created, and one to destroy is not destroyed", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), PAUSED);
      await automaticPollTo(world, "skipped");
      assert.deepEqual(await ids(world), {});
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      const before = await ids(world);
      await commit(world, {}, { ...PAUSED, destroy: true });
      const run = await pollTo(world, "skipped");
      assert.match(target(run).reason ?? "", /^paused/);
      assert.deepEqual(await ids(world), before);
    }));

  it("is skipped as ever while the engine does not answer", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await commit(world, shop("2"), PAUSED);
      await automaticPollTo(world, "skipped");
      world.proxy.reset({ kind: "error", at: 1, among: "all" });
      const run = await pollTo(world, "skipped");
      assert.match(target(run).reason ?? "", /is paused; whether it runs is not known: .*injected/);
    }));

  it("keeps what failed before in mind", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"), { retry: { limit: 0 } });
      await pollTo(world, "succeeded");
      const bad = { "compose.yaml": composeFile({ db: service(), web: badService(world) }) };
      await commit(world, bad, { retry: { limit: 0 } });
      await automaticPollTo(world, "failed");
      const remembered = rows(world, "SELECT * FROM failures");
      await commit(world, {}, { ...PAUSED, retry: { limit: 0 } });
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      const run = await automaticPollTo(world, "skipped");
      assert.match(target(run).reason ?? "", /; repaired release 1: create web$/);
      assert.deepEqual(rows(world, "SELECT * FROM failures"), remembered);
    }));

  it("whose repair fails makes the run fail, backs off, and forgets that when it works", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await commit(world, shop("2"), PAUSED);
      world.fake?.setBehaviour("web", { exit: 7 });
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      const failed = await automaticPollTo(world, "failed");
      assert.match(
        target(failed).message ?? "",
        /^repairing release 1: create web: service web: .*exit code 7/,
      );
      world.fake?.setBehaviour("web", "run");
      world.fake?.removeContainer(`${world.stack}-web-1`);
      const waits = await automaticPollTo(world, "skipped");
      assert.match(target(waits).reason ?? "", /release 1 needs create web, which failed before/);
      world.advance(10_000);
      await automaticPollTo(world, "skipped");
      assert.equal(await label(world, "web", "number"), "1");
      assert.deepEqual(rows(world, "SELECT * FROM failures"), []);
    }));

  it("whose files are gone for good is left as it is, and the run says so", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("1"));
      await pollTo(world, "succeeded");
      await commit(world, shop("2"), PAUSED);
      await automaticPollTo(world, "skipped");
      // Another history: the deployed commit is nowhere any more.
      await rm(join(world.dataDir, "sources"), { recursive: true, force: true });
      await world.repository.git("checkout", "--quiet", "--orphan", "fresh");
      await world.repository.git("branch", "--quiet", "-D", "main");
      await world.repository.git("branch", "--quiet", "-m", "main");
      await commit(world, shop("3"), PAUSED);
      await docker(world, "rm", "--force", `${world.stack}-web-1`);
      await world.repository.git(
        "--git-dir",
        world.repository.path,
        "reflog",
        "expire",
        "--expire=now",
        "--all",
      );
      await world.repository.git(
        "--git-dir",
        world.repository.path,
        "gc",
        "--quiet",
        "--prune=now",
      );
      const run = await automaticPollTo(world, "skipped");
      assert.match(
        target(run).reason ?? "",
        /release 1 needs create web, but its files are neither on disk nor in the mirror/,
      );
    }));
});

describe("runs of paused and active stacks", () => {
  const documents = (world: World, paused: Part, active: Part) => ({
    ".stackwright.yaml": configFile(
      { name: `${world.stack}-held`, compose_files: ["held.yaml"], ...paused },
      { name: `${world.stack}-active`, compose_files: ["active.yaml"], ...active },
    ),
  });
  const both = {
    "held.yaml": composeFile({ a: service() }),
    "active.yaml": composeFile({ b: service() }),
  };
  const statuses = (run: RunBody) => run.deployments?.map((each) => each.status);

  it("succeed when the active work does, and fail when it does not", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({ ...documents(world, PAUSED, {}), ...both });
      const mixed = await world.poll();
      assert.deepEqual([mixed.status, mixed.run.status], [200, "succeeded"]);
      assert.deepEqual(statuses(mixed.run), ["succeeded", "skipped"]);
      await world.repository.commit({ "active.yaml": composeFile({ b: badService(world) }) });
      const failed = await world.poll();
      assert.deepEqual([failed.status, failed.run.status], [500, "failed"]);
      assert.deepEqual(statuses(failed.run), ["failed", "skipped"]);
    }));

  it("are skipped when nothing active changed, and when all are paused", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({ ...documents(world, PAUSED, {}), ...both });
      await pollTo(world, "succeeded");
      const idle = await world.poll();
      assert.deepEqual([idle.status, idle.run.status], [200, "skipped"]);
      assert.match(idle.run.message ?? "", /no changes/);
      assert.match(idle.run.message ?? "", /paused: deployment \S+-held is paused/);
      await world.repository.commit(documents(world, PAUSED, PAUSED));
      const held = await world.poll();
      assert.deepEqual([held.status, held.run.status], [202, "skipped"]);
      assert.match(
        String(held.body["content"]),
        /-active is paused; paused: deployment \S+-held is paused/,
      );
    }));
});
