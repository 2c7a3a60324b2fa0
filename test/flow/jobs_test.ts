import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type AgeKeys, createAgeKeys, encryptYaml } from "../fakes/sops_encryptor.ts";
import { makeExecution } from "../../src/deploy/jobs/execution.ts";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, forgetTexts, ids, inWorld, pollTo, states } from "./steps.ts";
import { createWorld, engines, type RunBody, type World } from "./world.ts";

/** A service that is a job of these labels, and runs a line of shell. */
function job(line: string, labels: Part = {}, more: Part = {}): Part {
  const all = {
    "stackwright.job.enabled": "true",
    "stackwright.job.schedule": "0 0 1 1 *",
    "stackwright.job.execution_mode": "one_off",
    ...labels,
  };
  const own = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
  return service({ command: ["sh", "-c", line], labels: own, ...more });
}

interface JobBody {
  readonly name: string;
  readonly status?: string;
  readonly valid: boolean;
  readonly enabled: boolean;
  readonly next_run_at?: string;
  readonly repository?: string;
  readonly last_run: RunBody | null;
}

async function jobsOf(world: World): Promise<JobBody[]> {
  const answer = await world.request(`/v1/api/jobs?stack=${world.stack}`);
  assert.equal(answer.status, 200);
  return (await answer.json()).content;
}

/** Runs a job and waits for its end. */
async function run(world: World, name: string, query = "") {
  const path = `/v1/api/job/${world.stack}-${name}-1/run${query}`;
  const answer = await world.request(path, { method: "POST" });
  const { content, error } = await answer.json();
  return { status: answer.status, text: String(content ?? ""), error };
}

/** Names of the containers that were made for runs and are still there. */
async function executions(world: World): Promise<string[]> {
  const labels = ["stackwright.job.run", `com.docker.compose.project=${world.stack}`];
  const filters = labels.flatMap((each) => ["--filter", `label=${each}`]);
  const out = await docker(world, "ps", "-aq", ...filters);
  return out.trim() === "" ? [] : out.trim().split("\n");
}

/** Loses what the ledger says of the world's stack, which was not looked at again yet. */
function forgetStack(world: World): void {
  const database = new DatabaseSync(join(world.dataDir, "state.db"));
  for (const table of ["owners", "stacks"]) {
    database.prepare(`DELETE FROM ${table} WHERE name = ?`).run(world.stack);
  }
  database.close();
}

/** A process ends after it has made a run of `backup` and stopped `web`; the next one takes it over. */
async function takenOver(
  world: World,
  stackOfJob: string,
  { between = () => Promise.resolve(), env = {} }: {
    readonly between?: (world: World) => Promise<void>;
    readonly env?: Record<string, string>;
  } = {},
): Promise<void> {
  const { engine } = world;
  const find = async (stack: string, name: string) =>
    (await world.containers(stack)).find((each) => each.service === name)?.id ?? "";
  const [backup, web] = [await find(stackOfJob, "backup"), await find(world.stack, "web")];
  await world.stop();
  const signal = new AbortController().signal;
  await makeExecution(engine, backup, { runId: "1", stops: [web] }, signal);
  await engine.stopContainer(web, 0, signal);
  await between(world);
  await world.restart(env);
  let ended: RunBody | undefined;
  while (ended === undefined) {
    const answer = await world.request("/v1/api/runs?trigger=scheduled_job&status=failed");
    [ended] = (await answer.json()).content as RunBody[];
    await setTimeout(20);
  }
  assert.match(ended.message ?? "", /ended before it was started/);
  assert.deepEqual(await engine.listContainers({ "stackwright.job.run": "1" }, signal), []);
}

describe("scheduled jobs on the fake engine", () => {
  it("stop no service of a stack that another repository deployed", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      world.fake?.setBehaviour("backup", { exit: 0 });
      try {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        const stops = { "stackwright.job.stop_services": `${world.stack}/web` };
        await other.repository.commit({
          ".stackwright.yaml": `name: ${other.stack}\n`,
          "compose.yaml": composeFile({ backup: job("", stops) }),
        });
        await pollTo(world, "succeeded", { url: other.repository.url });
        const path = `/v1/api/job/${other.stack}-backup-1/run`;
        const isRefused = async () => {
          const answer = await world.request(path, { method: "POST" });
          const refused = /: the job was not run: it stops .*\/web, and .* runs from /;
          assert.match(String((await answer.json()).content), refused);
          assert.deepEqual(await states(world), { "web-1": "running" });
        };
        await isRefused();
        await world.stop();
        forgetStack(world);
        await world.restart();
        await isRefused();
      } finally {
        await other.close();
      }
    }));

  it("are listed with the repository that their stack is deployed from, not the one before", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        const files = { "compose.yaml": composeFile({ good: job("") }) };
        await commit(world, files);
        await pollTo(world, "succeeded");
        await other.repository.commit({ ".stackwright.yaml": `name: ${world.stack}\n`, ...files });
        const to = ["--source", other.repository.url];
        const { out } = await commandTo(world, 0, ["adopt", "--json", world.stack, ...to]);
        await pollTo(world, "skipped", { url: other.repository.url });
        const [listed] = await jobsOf(world);
        assert.equal(listed?.repository, JSON.parse(out).owner.source);
      } finally {
        await other.close();
      }
    }));

  it("are created by a deployment, run when they are asked to, and are no drift", () =>
    inWorld("fake", async (world) => {
      world.fake?.setBehaviour("good", { exit: 0 });
      world.fake?.setBehaviour("bad", { exit: 7 });
      const off = { "stackwright.job.enabled": "false" };
      await commit(world, {
        "compose.yaml": composeFile({ good: job(""), bad: job(""), off: job("", off) }),
      });
      await pollTo(world, "succeeded");
      const created = { "good-1": "created", "bad-1": "created" };
      assert.deepEqual(await states(world), { ...created, "off-1": "running" });
      assert.equal((await run(world, "good")).status, 200);
      assert.match((await run(world, "bad")).text, /bad ran and exited with status 7$/);
      assert.equal((await run(world, "off")).status, 409);
      const project = (action: string) =>
        world.request(`/v1/api/project/${world.stack}/${action}`, { method: "POST" });
      assert.equal((await project("stop")).status, 200);
      for (const query of ["", "?wait=true"]) {
        const { status, error, text } = await run(world, "good", query);
        assert.equal(status, 409);
        assert.match(
          `${error} ${text}`,
          /was not run: .* was stopped over the API .*; start it first/,
        );
      }
      assert.equal((await project("start")).status, 200);
      const [bad, good, off1] = await jobsOf(world);
      assert.deepEqual([bad?.status, good?.status], ["exited (7)", "exited (0)"]);
      assert.deepEqual([off1?.enabled, off1?.next_run_at], [false, undefined]);
      const metrics = await (await fetch(`${world.app.metricsUrl}/metrics`)).text();
      for (const [name, failed] of [["good", 0], ["bad", 1]]) {
        const labels = `{context="default",stack="${world.stack}",job="${world.stack}-${name}-1",` +
          'mode="container",execution_mode="one_off"}';
        for (
          const [series, count] of [
            ["runs_total", 1],
            ["run_errors_total", failed],
            ["run_duration_seconds_count", 1],
            ["runs_active", 0],
          ]
        ) {
          const line = `service_scheduled_${series}${labels} ${count}`;
          assert.ok(metrics.includes(`${line}\n`), line);
        }
      }
      await pollTo(world, "skipped");
      assert.deepEqual(await states(world), { ...created, "off-1": "running" });
    }));

  it("run again after a run that was seen, where they are left out while they run", () =>
    inWorld("fake", async (world) => {
      const image = `${world.stack}-task:1`;
      world.fake?.addImage(image, { where: "both", onStart: { exit: 0, afterMs: 300 } });
      const labels = {
        "stackwright.job.schedule": "@every 1s",
        "stackwright.job.execution_mode": "restart",
        "stackwright.job.skip_running": "true",
      };
      await commit(world, { "compose.yaml": composeFile({ a: job("", labels, { image }) }) });
      await pollTo(world, "succeeded");
      const ended = async () => {
        const answer = await world.request("/v1/api/runs?trigger=scheduled_job");
        const { content } = await answer.json() as { content: RunBody[] };
        return content.filter(({ status }) => status === "succeeded").length;
      };
      while (await ended() < 2) await setTimeout(50);
    }));

  it("count an interval from the last run, over restarts", () =>
    inWorld("fake", async (world) => {
      const labels = { "stackwright.job.schedule": "@every 1h" };
      const image = `${world.stack}-task:1`;
      world.fake?.addImage(image, { where: "both", onStart: { exit: 0, afterMs: 0 } });
      await commit(world, { "compose.yaml": composeFile({ a: job("", labels, { image }) }) });
      await pollTo(world, "succeeded");
      world.advance(10 * 60_000);
      await run(world, "a", "?wait=true");
      world.advance(20 * 60_000);
      await world.restart({});
      let [found] = await jobsOf(world);
      while (found?.next_run_at === undefined) {
        await setTimeout(50);
        [found] = await jobsOf(world);
      }
      const { created_at: begun = "" } = found.last_run as RunBody & { created_at?: string };
      assert.equal(Date.parse(found.next_run_at) - Date.parse(begun), 60 * 60_000);
    }));

  it("that a process had made and not started are put away, and what it stopped is started", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service(), backup: job("") }) });
      await pollTo(world, "succeeded");
      await takenOver(world, world.stack);
      assert.deepEqual(await states(world), { "backup-1": "created", "web-1": "running" });
    }));

  it("are put away as well where somebody removed the job's own container meanwhile", () =>
    inWorld("fake", async (world) => {
      await commit(world, { "compose.yaml": composeFile({ web: service(), backup: job("") }) });
      await pollTo(world, "succeeded");
      const between = async ({ engine, containers }: World) => {
        const { signal } = new AbortController();
        const own = (await containers()).find((each) => each.name.endsWith("backup-1"));
        await engine.removeContainer(own?.id ?? "", { force: true, volumes: false }, signal);
      };
      await takenOver(world, world.stack, { between });
      assert.deepEqual(await states(world), { "web-1": "running" });
      assert.deepEqual(await jobsOf(world), []);
    }));

  it("start again what they stopped, also where its encrypted files cannot be decrypted any more", async () => {
    const keys = await createAgeKeys();
    await inWorld("fake", async (world) => {
      const web = service({ volumes: ["./app.yaml:/app.yaml:ro", "./other.yaml:/other.yaml:ro"] });
      const encrypted = (text: string, { recipient }: AgeKeys) =>
        encryptYaml({ token: text }, { recipients: [recipient] });
      const own = await createAgeKeys();
      await world.restart({ SOPS_AGE_KEY: `${keys.identity}\n${own.identity}` });
      await commit(world, {
        "compose.yaml": composeFile({ web, backup: job("") }),
        "app.yaml": await encrypted("zk01Qx77plmWcanary", keys),
        "other.yaml": await encrypted("zk02Qx77plmWcanary", own),
      });
      await pollTo(world, "succeeded");
      await takenOver(world, world.stack, {
        between: forgetTexts,
        env: { SOPS_AGE_KEY: own.identity },
      });
      assert.deepEqual(await states(world), { "backup-1": "created", "web-1": "running" });
      assert.equal(world.redactor.redact("zk02Qx77plmWcanary"), "***");
    });
  });

  it("that were begun when they might stop services of another repository are put away as well", () =>
    inWorld("fake", async (world) => {
      const other = await createWorld({ engine: "fake" });
      try {
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        await other.repository.commit({
          ".stackwright.yaml": `name: ${other.stack}\n`,
          "compose.yaml": composeFile({
            backup: job("", { "stackwright.job.stop_services": `${world.stack}/web` }),
          }),
        });
        await pollTo(world, "succeeded", { url: other.repository.url });
        await takenOver(world, other.stack);
        assert.deepEqual(await states(world), { "web-1": "running" });
      } finally {
        await other.close();
      }
    }));

  it("fail the deployment when they could not run as they are written", () =>
    inWorld("fake", async (world) => {
      const wrong: [Part, RegExp][] = [
        [
          job("", { "stackwright.job.schedule": "61 * * * *" }),
          /compose\.yaml:\d+:\d+: services\.backup\.labels: .*"61 \* \* \* \*" is no schedule/,
        ],
        [job("", {}, { restart: "always" }), /its restart policy must be no/],
        [
          job("", { "stackwright.job.execution_mode": "restart" }, { scale: 2 }),
          /has one, not 2/,
        ],
      ];
      for (const [backup, says] of wrong) {
        await commit(world, { "compose.yaml": composeFile({ backup }) });
        assert.match((await pollTo(world, "failed")).message ?? "", says);
        assert.deepEqual(await states(world), {});
      }
    }));
});

for (const engine of await engines()) {
  if (engine === "fake") continue;

  describe(`scheduled jobs on the ${engine} engine`, () => {
    it("are not run by a deployment, run once when they are asked to, and leave nothing", () =>
      inWorld(engine, async (world) => {
        const labels = { "stackwright.job.max_duration": "1s" };
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        // An image of its own, which is there when it is deployed and not when the job runs.
        await docker(world, "commit", `${world.stack}-web-1`, "localhost:1/gone:1");
        await commit(world, {
          "compose.yaml": composeFile({
            web: service(),
            good: job("cat /data.txt", {}, { configs: [{ source: "data", target: "/data.txt" }] }),
            bad: job("echo out of space; exit 7"),
            hung: job("echo begun; sleep 1000", labels, { stop_grace_period: "0s" }),
            gone: job("true", {}, { image: "localhost:1/gone:1", pull_policy: "missing" }),
          }, { configs: { data: { content: "hello" } } }),
        }, {});
        await pollTo(world, "succeeded");
        await docker(world, "rmi", "--force", "localhost:1/gone:1");
        const idle = { "good-1": "created", "bad-1": "created", "hung-1": "created" };
        assert.deepEqual(await states(world), { "web-1": "running", ...idle, "gone-1": "created" });

        assert.deepEqual(await run(world, "good"), {
          status: 200,
          text: "scheduled job triggered",
          error: undefined,
        });
        const bad = await run(world, "bad");
        assert.deepEqual([bad.status, bad.error], [500, "failed to trigger scheduled job run"]);
        assert.match(bad.text, /bad ran and exited with status 7: out of space$/);
        const hung = await run(world, "hung");
        assert.equal(hung.status, 500);
        assert.match(hung.text, /job hung was ended after 1 seconds: begun$/);
        const gone = await run(world, "gone");
        assert.equal(gone.status, 500);
        assert.match(gone.text, /localhost:1/);
        assert.deepEqual(await executions(world), []);

        const listed = new Map((await jobsOf(world)).map((each) => [each.name, each]));
        const of = (name: string) => listed.get(`${world.stack}-${name}-1`);
        assert.equal(listed.size, 4);
        assert.deepEqual([of("good")?.status, of("bad")?.status], ["exited (0)", "exited (7)"]);
        assert.deepEqual([of("hung")?.status, of("good")?.valid], ["created", true]);
        assert.equal(of("bad")?.last_run?.status, "failed");
        assert.equal(of("gone")?.status, "created");
        const { out: all } = await commandTo(world, 0, ["status"]);
        assert.match(all, /^synced .*; its job failed$/m);
        assert.match(
          all,
          /: job bad \(0 0 1 1 \*\): its last run failed .*: out of space; next run /,
        );
        assert.doesNotMatch(all, /job good/);
        const { out: one } = await commandTo(world, 0, ["explain", world.stack]);
        assert.match(one, /^job bad .*: its last run failed .*; next run \d{4}-01-01/m);
        assert.match(one, /^job good .*: its last run succeeded /m);
        assert.match(of("good")?.next_run_at ?? "", /-01-01T00:00:00/);
        const unknown = await run(world, "none");
        assert.equal(unknown.status, 404);
        assert.match(unknown.text, /called as their containers/);
        // Nothing of it is a change.
        await pollTo(world, "skipped");
      }));

    it("stop services of other stacks while they run, and start them again when they fail", () =>
      inWorld(engine, async (world) => {
        const other = `${world.stack}b`;
        const stops = { "stackwright.job.stop_services": `web, ${other}/db` };
        await world.repository.commit({
          ".stackwright.yaml": configFile(
            { name: world.stack, working_dir: "a" },
            { name: other, working_dir: "b" },
          ),
          "a/compose.yaml": composeFile({
            web: service(),
            rest: service(),
            backup: job("exit 3", stops),
            again: job("exit 4", { ...stops, "stackwright.job.execution_mode": "restart" }),
          }),
          "b/compose.yaml": composeFile({ db: service() }),
        });
        await pollTo(world, "succeeded");
        const startedAt = async (stack: string, name: string) =>
          await docker(world, "inspect", "-f", "{{.State.StartedAt}}", `${stack}-${name}-1`);
        const before = await Promise.all([
          startedAt(world.stack, "web"),
          startedAt(other, "db"),
          startedAt(world.stack, "rest"),
        ]);
        const names = await ids(world);
        assert.match((await run(world, "backup")).text, /exited with status 3$/);
        assert.match((await run(world, "again")).text, /exited with status 4$/);
        const after = await Promise.all([
          startedAt(world.stack, "web"),
          startedAt(other, "db"),
          startedAt(world.stack, "rest"),
        ]);
        const restarted = after.map((time, index) => time !== before[index]);
        assert.deepEqual(restarted, [true, true, false]);
        assert.deepEqual(await ids(world), names);
        assert.deepEqual(await states(world, other), { "db-1": "running" });
        assert.equal(
          (await jobsOf(world)).find(({ name }) => name.includes("again"))?.status,
          "exited (4)",
        );
      }));

    it("go on when the service ends, and are taken over by the next one", () =>
      inWorld(engine, async (world) => {
        const stops = { "stackwright.job.stop_services": "web" };
        await commit(world, {
          "compose.yaml": composeFile({
            web: service(),
            backup: job("while [ ! -e /go ]; do sleep 0.1; done; exit 5", stops),
          }),
        });
        await pollTo(world, "succeeded");
        for (const env of [{}, { SCHEDULER_ENABLED: "false" }]) {
          assert.equal((await run(world, "backup", "?wait=false")).status, 202);
          while ((await states(world))["web-1"] === "running") await setTimeout(20);
          let id = "";
          while (id === "") {
            const [first = ""] = await executions(world);
            const state = first === ""
              ? ""
              : await docker(world, "inspect", "-f", "{{.State.Running}}", first);
            id = state.trim() === "true" ? first : "";
            await setTimeout(20);
          }
          const shown = await world.request(`/v1/api/deployments?query=${world.stack}`);
          const [{ state, why }] = (await shown.json()).content.deployments;
          assert.equal(state, "deploying", why);
          assert.match(why, /\/backup runs, and has web stopped meanwhile$/);
          await world.restart(env);
          const ended = await world.request("/v1/api/runs?trigger=scheduled_job&status=skipped");
          const { content: [left] } = await ended.json();
          assert.match(left?.message ?? "", /^left running; the next start takes it over$/);
          assert.equal(left.deployments[0].status, "skipped");
          assert.deepEqual(await executions(world), [id]);
          while ((await jobsOf(world))[0]?.status !== "running") await setTimeout(20);
          await docker(world, "exec", "--detach", id, "touch", "/go");
          while ((await jobsOf(world))[0]?.status === "running") await setTimeout(50);
          const [listed] = await jobsOf(world);
          assert.equal(listed?.status, "exited (5)");
          assert.equal((await states(world))["web-1"], "running");
          assert.deepEqual(await executions(world), []);
        }
      }));

    // The rest is about us. Whose label counts is decided from what either engine says of an image.
    if (engine === "real") return;

    it("are what authors call so, whatever the labels of an image say", () =>
      inWorld(engine, async (world) => {
        const image = `stackwright-test/${world.stack}:1`;
        const web = (name: string) => service({ environment: { NAME: name }, image });
        const labels = ["enabled=true", "schedule=@hourly", "wait_running_jobs=true"];
        const changes = labels.flatMap((each) => ["--change", `LABEL stackwright.job.${each}`]);
        await commit(world, { "compose.yaml": composeFile({ web: service() }) });
        await pollTo(world, "succeeded");
        await docker(world, "commit", ...changes, `${world.stack}-web-1`, image);
        try {
          await commit(world, { "compose.yaml": composeFile({ web: web("one") }) });
          await pollTo(world, "succeeded");
          assert.deepEqual(await jobsOf(world), []);
          // Deployments do not wait for it either.
          await commit(world, { "compose.yaml": composeFile({ web: web("two") }) });
          await pollTo(world, "succeeded");
          assert.deepEqual(await states(world), { "web-1": "running" });
        } finally {
          await docker(world, "rmi", "--force", image);
        }
      }));
  });
}
