import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rename } from "node:fs/promises";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { badService } from "./bad_service.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo } from "./steps.ts";
import { until } from "./until.ts";
import { engines, type World } from "./world.ts";

const run = promisify(execFile);

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly why: string;
  readonly health: string;
  readonly running: number;
  readonly wanted: number;
  readonly source_failure?: {
    readonly since: string;
    readonly why: string;
    readonly retry_at?: string;
  };
  readonly release?: { readonly number: number; readonly revision: string };
}

async function status(world: World): Promise<Listed> {
  const { out } = await commandTo(world, 0, ["status", "--json", world.stack]);
  const [only, ...more] = JSON.parse(out).deployments as Listed[];
  assert.ok(only !== undefined && more.length === 0, out);
  return only;
}

async function listed(world: World, query = "") {
  const answer = await world.request(`/v1/api/deployments${query}`);
  assert.equal(answer.status, 200);
  return (await answer.json()).content as {
    readonly deployments: Listed[];
    readonly counts: Record<string, number>;
    readonly next?: string;
    readonly failed_sources?: readonly unknown[];
  };
}

for (const engine of await engines()) {
  describe(`the status of stacks on the ${engine} engine`, () => {
    it("says what each is and why, by the command and by the API alike", () =>
      inWorld(engine, async (world) => {
        const { out: empty } = await commandTo(world, 0, ["status"]);
        assert.equal(
          empty,
          `no stack was deployed or looked at yet, says the ledger in DATA_DIR ${world.dataDir}\n`,
        );
        await commandTo(world, 1, ["status", world.stack]);

        const id = await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const synced = await status(world);
        assert.deepEqual([synced.state, synced.running, synced.wanted], ["synced", 1, 1]);
        assert.deepEqual([synced.release?.number, synced.release?.revision], [1, id]);
        const { deployments, counts } = await listed(world, `?query=${world.stack}`);
        const [only] = deployments;
        assert.deepEqual({ ...only, context: undefined }, { ...synced, context: undefined });
        assert.equal(counts["synced"], 1);
        assert.deepEqual((await listed(world, "?state=failed")).deployments, []);

        const { out } = await commandTo(world, 0, ["status"]);
        assert.match(out, /^STATE +STACK +RELEASE +COMMIT +AGE +HEALTH +WHY$/m);
        const line = new RegExp(
          `^synced +${world.stack} +1 +${id.slice(0, 7)}\\w* .* 1/1 +release 1`,
        );
        assert.match(out.split("\n")[1] ?? "", line);

        await docker(world, "rm", "--force", `${world.stack}-web-1`);
        const drifted = await status(world);
        assert.deepEqual([drifted.state, drifted.health], ["drifted", "stopped"]);
        assert.match(drifted.why, /create web/);

        await pollTo(world, "succeeded");
        await commit(world, { "compose.yaml": composeFile({ web: badService(world) }) });
        await pollTo(world, "failed");
        const failed = await status(world);
        assert.equal(failed.state, "failed");
        assert.equal((await listed(world, "?state=failed")).deployments[0]?.why, failed.why);

        await commit(world, { "compose.yaml": composeFile({ web: service() }) }, { pause: true });
        await pollTo(world, "skipped");
        assert.equal((await status(world)).state, "held");
      }));
  });
}

describe("pages of the deployments", () => {
  it("follow each other by name, with counts over all of them", () =>
    inWorld("fake", async (world) => {
      const names = ["a", "b", "c"].map((each) => `${world.stack}-${each}`);
      await world.repository.commit({
        ".stackwright.yaml": names.map((name) => `name: ${name}\n`).join("---\n"),
        "compose.yaml": composeFile({ web: service() }),
      });
      await pollTo(world, "succeeded");
      const first = await listed(world, "?limit=2");
      assert.deepEqual(first.deployments.map(({ name }) => name), names.slice(0, 2));
      assert.deepEqual([first.counts["synced"], first.next], [3, names[1]]);
      const second = await listed(world, `?limit=2&after=${first.next}`);
      assert.deepEqual(second.deployments.map(({ name }) => name), names.slice(2));
      assert.equal(second.next, undefined);
      assert.equal((await world.request("/v1/api/deployments?context=edge")).status, 400);
      await docker(world, "rm", "--force", `${names[1]}-web-1`);
      const { out } = await commandTo(world, 0, ["status"]);
      const closing = "3 stacks: 1 drifted, 2 synced; stackwright explain NAME says more\n";
      assert.ok(out.endsWith(`\n${closing}`), out);
    }));
});

describe("a release that failed, of a source that is polled", () => {
  it("is told with the release that was put back, and when the next attempt is", () =>
    inWorld("fake", async (world) => {
      const good = { "compose.yaml": composeFile({ web: service() }) };
      await commit(world, good);
      await pollTo(world, "succeeded");
      const entry = { url: world.repository.url, reference: "main", interval: 3600 };
      await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
      await commit(world, { "compose.yaml": composeFile({ web: badService(world) }) });
      await pollTo(world, "failed");
      const { out } = await commandTo(world, 0, ["status"]);
      assert.match(out, /^failed .*; release \d+ failed, and release 1 was put back; next try \d/m);
      const explained = await commandTo(world, 0, ["explain", world.stack]);
      const line =
        /^failed, healthy 1\/1: release \d+ failed, and release 1 was put back; next try \d/m;
      assert.match(explained.out, line);
      await commit(world, good);
      await pollTo(world, "skipped");
      assert.doesNotMatch((await commandTo(world, 0, ["status"])).out, /put back|next try/);
    }));

  it("is told with the next poll, too, after an apply of a checkout and a poll that had to wait", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      const bad = { "compose.yaml": composeFile({ web: badService(world) }) };
      await commit(world, bad, { retry: { delay: 600 } });
      const entry = { url: world.repository.url, reference: "main", interval: 3600 };
      const env = { POLL_CONFIG: JSON.stringify([entry]) };
      const begun = world.clock.now().getTime();
      const isAfterPoll = async () => {
        const { out } = await commandTo(world, 0, ["status", "--json", world.stack], { env });
        const [{ retry_at: at }] = JSON.parse(out).deployments;
        return Date.parse(at) - begun >= 3_600_000;
      };
      const checkout = `${world.repository.path}-checkout`;
      await run("git", ["clone", "--quiet", world.repository.path, checkout]);
      await commandTo(world, 1, ["apply", checkout], { env });
      assert.ok(await isAfterPoll());

      await world.restart(env);
      await until(async () =>
        (await commandTo(world, 0, ["explain", world.stack])).out.includes("skip (delay)")
      );
      assert.ok(await isAfterPoll());
    }));
});

describe("a source that cannot be read", () => {
  it("is told with its stacks, which stay what they are, until it can be read again", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "succeeded");
      await world.repository.commit({ ".stackwright.yaml": `name: ${world.stack}\nnamee: x\n` });
      const entry = { url: world.repository.url, reference: "main", interval: 3600 };
      await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
      await pollTo(world, "failed");

      const told = await status(world);
      assert.equal(told.state, "synced");
      const { why = "", since, retry_at: again } = told.source_failure ?? {};
      assert.match(why, /\.stackwright\.yaml:2:1.* namee/);
      assert.ok(Date.parse(again ?? "") > Date.parse(since ?? ""), JSON.stringify(told));
      const { deployments: [shown], failed_sources: failed } = await listed(world);
      assert.deepEqual([shown?.source_failure], failed);
      const { out } = await commandTo(world, 0, ["status"]);
      assert.match(out, /release 1 runs; its source cannot be read$/m);
      const line = /^source \S+ \(main\) cannot be read since .*namee.*; next try \d.*$/m;
      assert.match(out, line);
      assert.match((await commandTo(world, 0, ["explain", world.stack])).out, line);
      for (const names of [[], [world.stack]]) {
        const json = await commandTo(world, 0, ["status", "--json", ...names]);
        assert.equal(JSON.parse(json.out).failed_sources[0].why, why);
      }
      const metrics = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
      assert.match(metrics, /^service_stack_source_failing\{.*\} 1$/m);

      await pollTo(world, "failed");
      assert.equal((await status(world)).source_failure?.since, since);
      await commit(world, {});
      await pollTo(world, "skipped");
      assert.equal((await status(world)).source_failure, undefined);
      assert.equal((await listed(world)).failed_sources, undefined);
    }));

  it("is told where it never deployed anything, if it is polled", () =>
    inWorld("fake", async (world) => {
      await world.repository.commit({ "compose.yaml": composeFile({ web: service() }) });
      await pollTo(world, "failed", { reference: "mian" });
      const out = async () => (await commandTo(world, 0, ["status"])).out;
      assert.doesNotMatch(await out(), /cannot be read/);
      const entry = { url: world.repository.url, reference: "main", interval: 3600 };
      await world.restart({ POLL_CONFIG: JSON.stringify([entry]) });
      await pollTo(world, "failed");
      const line = /^source \S+ \(main\) cannot be read since .* no deployment configuration/m;
      assert.match(await out(), line);
      await world.restart({ POLL_CONFIG: "[]" });
      assert.doesNotMatch(await out(), /cannot be read/);
    }));

  const BROKEN: readonly (readonly [what: string, hurt: (path: string) => Promise<unknown>])[] = [
    ["a repository that is gone", (path) => rename(path, `${path}-away`)],
    ["a renamed branch", (path) => run("git", ["-C", path, "branch", "-m", "main", "trunk"])],
  ];
  for (const [what, hurt] of BROKEN) {
    it(`is told of ${what}`, () =>
      inWorld("fake", async (world) => {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        await hurt(world.repository.path);
        await pollTo(world, "failed");
        const { state, source_failure: failure } = await status(world);
        assert.deepEqual([state, failure?.why !== ""], ["synced", true]);
        assert.ok(failure !== undefined);
      }));
  }
});

describe("the status of a stack whose container is down", () => {
  it("says so in the table, as JSON and over the API, with one look at the engine as ever", () =>
    inWorld("fake", async (world) => {
      const { fake } = world;
      assert.ok(fake);
      await commit(world, { "compose.yaml": composeFile({ web: service({ restart: "no" }) }) });
      await pollTo(world, "succeeded");
      const asked = async () => {
        const before = world.proxy.calls.length;
        await listed(world);
        return world.proxy.calls.length - before;
      };
      const calls = await asked();
      assert.ok(calls > 0);
      fake.crash(`${world.stack}-web-1`, 137);
      const found = await status(world);
      const why = `${world.stack}-web-1 exited with 137; release 1 needs: start web`;
      assert.deepEqual([found.state, found.health, found.why], ["drifted", "stopped", why]);
      assert.deepEqual((await listed(world)).deployments[0], found);
      const { out } = await commandTo(world, 0, ["status"]);
      assert.match(out, /drifted .* stopped 0\/1 .*exited with 137/);
      assert.equal(await asked(), calls);
    }));
});
