import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { badService, LAST_WORDS } from "./bad_service.ts";
import { command, commandTo, rows } from "./commands.ts";
import { composeFile, type Part, service } from "./compose_text.ts";
import { commit, docker, ids, inWorld, pollTo, replaced } from "./steps.ts";
import { engines, type World } from "./world.ts";

/** A compose file of the services `web` and `db`. */
function shop(revision: string, more: Part = {}): Record<string, string> {
  const web = service({ labels: { revision }, ...more });
  return { "compose.yaml": composeFile({ db: service(), web }) };
}

/** Runs `work` with a plan of the world's repository in a file. */
async function withPlan(world: World, work: (file: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-apply-"));
  try {
    const { out } = await command(world, ["plan", "--json", world.repository.url]);
    await writeFile(join(directory, "plan.json"), out);
    await work(join(directory, "plan.json"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

for (const engine of await engines()) {
  describe(`stackwright apply on the ${engine} engine`, () => {
    it("deploys once, says what it did, and finds nothing to do the second time", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        const { out, err } = await commandTo(world, 0, ["apply", world.repository.url]);
        assert.equal(err, "");
        assert.equal(
          out,
          `default/${world.stack}: succeeded: create db, web\n` +
            "  db: create: first deployment\n  web: create: first deployment\n",
        );
        const before = await ids(world);
        assert.deepEqual(Object.keys(before), ["db-1", "web-1"]);
        world.proxy.reset();
        const explained = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(explained.out, /^ {2}by manual apply, at /m);
        const again = await commandTo(world, 0, ["apply", world.repository.url, "--json"]);
        const { stacks } = JSON.parse(again.out);
        assert.deepEqual(
          stacks.map((each: Part) => [each["stack"], each["status"], each["reason"]]),
          [[world.stack, "skipped", "no_changes"]],
        );
        assert.equal(world.proxy.mutations(), 0);
        assert.deepEqual(await ids(world), before);
        // The service finds the same: there is one ledger.
        await pollTo(world, "skipped");
        assert.equal(world.proxy.mutations(), 0);
      }));

    it("fails with 1, the last lines of what failed, and what was put back", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await commandTo(world, 0, ["apply", world.repository.url]);
        const before = await ids(world);
        await commit(world, {
          "compose.yaml": composeFile({ db: service(), web: badService(world) }),
        });
        const args = ["apply", world.repository.url];
        const { out, err } = await commandTo(world, 1, args, { interactive: true });
        assert.doesNotMatch(err, /deployment failed/, "the result says it");
        assert.match(
          out,
          /: failed: recreate web: service web: container \S+-web-1 stopped with exit code 3/,
        );
        assert.match(out, engine === "real" ? new RegExp(LAST_WORDS) : /it wrote no output/);
        assert.match(out, /the previous release was put back: restored web/);
        assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
        const [web] = (await world.containers()).filter((each) => each.service === "web");
        assert.deepEqual([web?.state, web?.labels["revision"]], ["running", "one"]);
      }));

    it("a first deployment that fails leaves its containers, says so, and shows their words", () =>
      inWorld(engine, async (world) => {
        await commit(world, {
          "compose.yaml": composeFile({ db: service(), web: badService(world) }),
        });
        const { out } = await commandTo(world, 1, ["apply", world.repository.url]);
        assert.match(
          out,
          /there is no earlier release to go back to: its containers were left for inspection/,
        );
        if (engine === "real") assert.match(out, new RegExp(LAST_WORDS));
        const containers = await world.containers();
        assert.deepEqual(containers.map((each) => [each.service, each.state, each.exitCode]), [
          ["db", "running", undefined],
          ["web", "exited", 3],
        ]);
        if (engine === "real") {
          assert.match(await docker(world, "logs", `${world.stack}-web-1`), new RegExp(LAST_WORDS));
        }
        await commit(world, shop("one"));
        await commandTo(world, 0, ["apply", world.repository.url]);
      }));

    // The rest is about us, not about the engine.
    if (engine === "real") return;

    it("DEPLOY_ROLLBACK=false keeps the mixed state and says so; the next good release ends it", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        const before = await ids(world);
        await commit(world, {
          "compose.yaml": composeFile({ db: service(), web: badService(world) }),
        });
        const finished = await pollTo(world, "failed");
        assert.match(
          finished.deployments?.[0]?.message ?? "",
          /DEPLOY_ROLLBACK is off: left as it is/,
        );
        const states = (await world.containers()).map((each) => [each.service, each.state]);
        assert.deepEqual(states, [["db", "running"], ["web", "exited"]]);
        assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
        await commit(world, shop("two"));
        await pollTo(world, "succeeded");
        const [, web] = await world.containers();
        assert.deepEqual([web?.state, web?.labels["revision"]], ["running", "two"]);
      }, { DEPLOY_ROLLBACK: "false" }));

    it("--plan carries out the plan that was agreed to", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        await commit(world, shop("two"));
        await withPlan(world, async (file) => {
          const args = ["apply", "--plan", file, world.repository.url];
          const { out } = await commandTo(world, 0, args);
          assert.match(out, /: succeeded: recreate web\n/);
          // It is done, so what runs is no longer what the plan was made for.
          const { err } = await commandTo(world, 1, args);
          assert.match(err, /the plan is out of date/);
        });
      }));

    it("--plan refuses when another commit came, and when what runs has changed", () =>
      inWorld(engine, async (world) => {
        await commit(world, shop("one"));
        await pollTo(world, "succeeded");
        await commit(world, shop("two"));
        await withPlan(world, async (file) => {
          const args = ["apply", "--json", "--plan", file, world.repository.url];
          await commit(world, shop("three"));
          const before = await ids(world);
          world.proxy.reset();
          const { err, out } = await commandTo(world, 1, args);
          assert.deepEqual([JSON.parse(err).error.code, out], ["conflict", ""]);
          assert.match(err, /Nothing was changed/);
          assert.equal(world.proxy.mutations(), 0);
          assert.deepEqual(await ids(world), before);
        });
        await withPlan(world, async (file) => {
          await docker(world, "rm", "--force", `${world.stack}-db-1`);
          const { err } = await commandTo(world, 1, [
            "apply",
            "--plan",
            file,
            world.repository.url,
          ]);
          assert.match(err, /what is wanted or what runs has changed/);
          assert.deepEqual(Object.keys(await ids(world)), ["web-1"]);
        });
      }));

    it("tells a person every step, a script nothing, and standard output never", () =>
      inWorld(engine, async (world) => {
        const checked = { healthcheck: { test: ["CMD", "true"], interval: "1s" } };
        await commit(world, shop("one", checked));
        const args = ["apply", "--json", world.repository.url];
        const first = await commandTo(world, 0, args, { interactive: true });
        const steps = first.err.split("\n").filter((line) => line !== "");
        assert.match(steps[0] ?? "", /^resolving HEAD of /);
        const mine = steps.slice(1).map((line) => line.replace(`${world.stack}: `, ""));
        assert.deepEqual(
          mine.filter((line) => !line.startsWith("waiting for ")),
          [
            "looking at what runs",
            "writing its files",
            "rendering",
            "starting db, web",
            "making sure that it stays healthy",
            "pruning images",
            "succeeded",
          ],
        );
        assert.equal(JSON.parse(first.out).stacks[0].status, "succeeded");

        await commit(world, {
          "compose.yaml": composeFile({ db: service(), web: badService(world) }),
        });
        const second = await commandTo(world, 1, args, { interactive: true });
        const order = ["replacing web", "rolling back", "replacing web", "failed"];
        const said = second.err.split("\n").map((line) => line.replace(`${world.stack}: `, ""));
        assert.deepEqual(said.filter((line) => order.includes(line)), order);
        assert.equal(JSON.parse(second.out).stacks[0].status, "failed");

        await commit(world, shop("three"));
        const third = await commandTo(world, 0, args);
        assert.equal(third.err, "");
      }));
  });
}

describe("stackwright apply", () => {
  it("says which service it waits for, and what that is waiting for", () =>
    inWorld("fake", async (world) => {
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 200 });
      const healthcheck = { test: ["CMD", "true"], interval: "1s" };
      await commit(world, shop("one", { healthcheck }));
      const { err } = await commandTo(world, 0, ["apply", world.repository.url], {
        interactive: true,
      });
      assert.match(
        err,
        new RegExp(`^${world.stack}: waiting for web: health check is starting$`, "m"),
      );
    }));

  it("shows the step in the run while the service works", () =>
    inWorld("fake", async (world) => {
      world.fake?.setBehaviour("web", { health: "healthy", afterMs: 600 });
      await commit(world, shop("one", { healthcheck: { test: ["CMD", "true"], interval: "1s" } }));
      const done = world.poll();
      const seen = new Set<string>();
      let over = false;
      void done.then(() => over = true);
      while (!over) {
        const answer = await world.request("/v1/api/runs");
        const [run] = (await answer.json()).content;
        if (run?.deployments?.[0]?.message) seen.add(run.deployments[0].message);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const { run } = await done;
      assert.ok(seen.has("waiting for web: health check is starting"), JSON.stringify([...seen]));
      assert.equal(run.deployments?.[0]?.message, "create db, web");
      assert.equal(run.message, "poll jobs complete");
    }));

  it("fails with 1 when one of several stacks does, and carries out the others", () =>
    inWorld("fake", async (world) => {
      const { stack } = world;
      await world.repository.commit({
        ".stackwright.yaml":
          `name: ${stack}-a\ncompose_files: [bad.yaml]\n---\nname: ${stack}-b\ncompose_files: [good.yaml]\n`,
        "bad.yaml": composeFile({ web: badService(world) }),
        "good.yaml": composeFile({ web: service() }),
      });
      const { out } = await commandTo(world, 1, ["apply", world.repository.url]);
      assert.match(out, new RegExp(`^default/${stack}-a: failed: `, "m"));
      assert.match(out, new RegExp(`^default/${stack}-b: succeeded: create web$`, "m"));
    }));

  it("carries out a plan that was made with a data directory that did not exist", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      const env = { DATA_DIR: join(world.dataDir, "../new/data") };
      const { url } = world.repository;
      const plan = () => commandTo(world, 2, ["plan", "--json", url], { env });
      const { out } = await plan();
      assert.equal((await plan()).out, out);
      assert.deepEqual(await readdir(env.DATA_DIR), ["instance.key"]);
      const file = join(world.dataDir, "../new/plan.json");
      await writeFile(file, out);
      await commandTo(world, 0, ["apply", "--plan", file, url], { env });
    }));

  it("refuses a plan file that is none, or of another place, and changes nothing", () =>
    inWorld("fake", async (world) => {
      await commit(world, shop("one"));
      await withPlan(world, async (file) => {
        const missing = await command(world, ["apply", "--plan", `${file}x`, world.repository.url]);
        assert.equal(missing.code, 1);
        assert.match(missing.err, /there is no plan at/);
        for (const text of ["rubbish", "{}", '{"stacks": 3}', '{"stacks": [null]}']) {
          await writeFile(file, text);
          const { code, err } = await command(world, [
            "apply",
            "--plan",
            file,
            world.repository.url,
          ]);
          assert.equal(code, 64, err);
          assert.match(err, /is no plan/);
        }
        await writeFile(file, '{"stacks": [{"id": "x"}]}');
        await commandTo(world, 1, ["apply", "--plan", file, world.repository.url]);
      });
      assert.deepEqual(rows(world, "SELECT * FROM releases"), []);
      assert.deepEqual(await world.containers(), []);
    }));
});

describe("a repository whose poll says itself what is deployed", () => {
  it("is planned and applied as the service would, not as its files say", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({
        ".stackwright.yaml": `name: ${world.stack}-filed\n`,
        "compose.yaml": composeFile({ web: service() }),
        "other.yaml": composeFile({ other: service() }),
      });
      const deployments = [{ name: world.stack, compose_files: ["other.yaml"] }];
      const entry = { url: world.repository.url, reference: "main", deployments };
      const env = { POLL_CONFIG: JSON.stringify([entry]) };
      const { out } = await commandTo(world, 2, ["plan", world.repository.url], { env });
      assert.match(out, new RegExp(`${world.stack}: .*create other`, "s"));
      assert.doesNotMatch(out, /filed/);
      await commandTo(world, 0, ["apply", world.repository.url], { env });
      assert.deepEqual(Object.keys(await ids(world)), ["other-1"]);
      await commandTo(world, 0, ["plan", world.repository.url], { env });
      // As well as its files, where another entry is for these.
      const both = { env: { POLL_CONFIG: JSON.stringify([{ ...entry, deployments: [] }, entry]) } };
      const planned = await commandTo(world, 2, ["plan", world.repository.url], both);
      assert.match(planned.out, /-filed: deploy: create web\n/);
      assert.match(planned.out, new RegExp(`${world.stack}: nothing to do`));
      assert.match(planned.out, /\nplan: 2 stacks, 1 with changes/);
      await commandTo(world, 0, ["apply", world.repository.url], both);
      await commandTo(world, 0, ["plan", world.repository.url], both);
    }));
});
