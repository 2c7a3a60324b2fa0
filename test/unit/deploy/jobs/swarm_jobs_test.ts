import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findSwarmJobs } from "../../../../src/deploy/jobs/find_swarm_jobs.ts";
import { type JobOrder, JobRun, type JobRunFacts } from "../../../../src/deploy/jobs/job_run.ts";
import { swarmJobs } from "../../../../src/deploy/jobs/swarm_jobs.ts";
import type { EngineClient } from "../../../../src/docker/mod.ts";
import { errors } from "../../../../src/model/mod.ts";
import { createLimiter } from "../../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";
import { createMemorySwarm, type MemorySwarmEngine } from "../../../fakes/memory_swarm.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

const RUN = "shop_backup-stackwright-job-0123456789ab";
const never = new AbortController().signal;
const IDLE = { ReplicatedJob: { MaxConcurrent: 0, TotalCompletions: 0 } };
const backup = {
  stack: "shop",
  service: "backup",
  mode: IDLE,
  labels: { "stackwright.job.tasks": "1" },
  container: { Labels: { "stackwright.job.enabled": "true" } },
};
const web = (replicas = 2) => ({
  stack: "shop",
  service: "web",
  mode: { Replicated: { Replicas: replicas } },
});
const stopping: JobOrder = {
  mode: "one_off",
  stopServices: [{ project: "shop", service: "web" }],
};

async function createWorld(
  engine: MemorySwarmEngine,
  spec: JobOrder,
  leaves = false,
  checks: Partial<Pick<JobRunFacts, "ready" | "requireStartable">> = {},
) {
  const [found] = await findSwarmJobs(engine, { context: "default" }, never);
  assert.ok(found?.swarm !== undefined);
  const clock = createFakeClock();
  const log = createRecordingLog();
  const asked: string[] = [];
  const facts = {
    // The calls that a run makes are all there.
    swarm: engine.swarm as EngineClient["swarm"],
    engine,
    clock,
    log,
    found,
    service: found.swarm,
    spec,
    nextId: () => "019a0000-0000-7000-8000-0123456789ab",
    leaves: () => leaves,
    isTaken: () => false,
    making: createLimiter(8).run,
    progress: () => {},
    ready: () => Promise.resolve([]),
    requireStartable: () => Promise.resolve(),
    notes: { get: () => undefined, set() {}, remove() {} },
    ...checks,
    auth: (image: string) => {
      asked.push(image);
      return Promise.resolve("credentials");
    },
  };
  const run = new JobRun(facts, swarmJobs(facts));
  return { run, clock, log, asked, found };
}

const replicas = ({ specs }: MemorySwarmEngine) =>
  (specs.get("shop_web")?.["Mode"] as { Replicated: { Replicas: number } }).Replicated.Replicas;

describe("the run of a job in a swarm", () => {
  it("stops no service of another stack whose name in the swarm is the same", async () => {
    const theirs = { ...web(), stack: "shop_web", service: "c" };
    const engine = createMemorySwarm([backup, theirs]);
    const stopServices = [{ project: "shop", service: "web_c" }];
    const { run } = await createWorld(engine, { mode: "one_off", stopServices });
    await run.begin(never);
    assert.deepEqual(engine.specs.get("shop_web_c")?.["Mode"], { Replicated: { Replicas: 2 } });
    const named = [{ project: "shop_web", service: "c" }];
    await (await createWorld(engine, { mode: "one_off", stopServices: named })).run.begin(never);
    assert.deepEqual(engine.specs.get("shop_web_c")?.["Mode"], { Replicated: { Replicas: 0 } });
  });

  it("one off: makes a service, stops what it is to, runs it, and puts all back", async () => {
    const engine = createMemorySwarm([backup, web()]);
    const { run, asked } = await createWorld(engine, stopping);
    engine.states.set("shop_web", { State: "shutdown" });
    await run.begin(never);
    assert.deepEqual(engine.calls, [`create ${RUN}`, "update shop_web", `update ${RUN}`]);
    assert.equal(replicas(engine), 0);
    assert.equal(await run.end(never), 0);
    assert.deepEqual(engine.calls.slice(3), ["update shop_web", `remove ${RUN}-id`]);
    assert.equal(replicas(engine), 2);
    assert.deepEqual(asked, ["busybox:1@sha256:1"]);
    assert.deepEqual(engine.specs.get("shop_backup")?.["Mode"], IDLE);
  });

  it("one off: returns the exit code and what it printed", async () => {
    const engine = createMemorySwarm([backup]);
    const { run } = await createWorld(engine, { mode: "one_off", stopServices: [] });
    await run.begin(never);
    engine.states.set(RUN, { State: "failed", ExitCode: 7 });
    assert.equal(await run.end(never), 7);
    assert.equal(run.output, `: printed by ${RUN}-id`);
    assert.equal(engine.specs.has(RUN), false);
  });

  it("is not begun where a service cannot be stopped, and leaves nothing behind", async () => {
    const engine = createMemorySwarm([backup, web()]);
    const { run } = await createWorld(engine, stopping);
    engine.onCall = (call) => {
      if (call === "update shop_web") throw new Error("refused");
    };
    await assert.rejects(run.begin(never), /the job was not run, as services could not be stopped/);
    assert.equal(engine.specs.has(RUN), false);
    assert.equal(replicas(engine), 2);
  });

  it("is ended when it takes longer than it may", async () => {
    const engine = createMemorySwarm([backup]);
    const order = { mode: "one_off", stopServices: [], maxSeconds: 5 } as const;
    const { run, clock } = await createWorld(engine, order);
    await run.begin(never);
    engine.states.set(RUN, { State: "running" });
    const ended = assert.rejects(run.end(never), /was ended after 5 seconds: printed by/);
    for (let second = 0; second < 7; second++) {
      await settle();
      await clock.advance(1000);
    }
    await ended;
    assert.equal(engine.specs.has(RUN), false);
  });

  it("is left to the next process, which takes it over with what it stopped", async () => {
    const engine = createMemorySwarm([backup, web()]);
    engine.states.set("shop_web", { State: "shutdown" });
    const before = await createWorld(engine, stopping, true);
    await before.run.begin(never);
    engine.states.set(RUN, { State: "running" });
    const stop = new AbortController();
    const left = assert.rejects(before.run.end(stop.signal));
    await settle();
    stop.abort(new Error("the process ends"));
    await left;
    assert.ok(engine.specs.has(RUN));
    assert.equal(replicas(engine), 0);

    engine.states.set(RUN, { State: "failed", ExitCode: 3 });
    const after = await createWorld(engine, stopping);
    const [execution] = after.found.executions;
    assert.equal(execution?.id, `${RUN}-id`);
    await after.run.adopt(execution?.id ?? "", never);
    assert.equal(await after.run.end(never), 3);
    assert.equal(engine.specs.has(RUN), false);
    assert.equal(replicas(engine), 2);
  });

  it("is put away when the process before ended before it began, or it is gone", async () => {
    const engine = createMemorySwarm([backup, web()]);
    const before = await createWorld(engine, stopping, true);
    const stop = new AbortController();
    engine.onCall = (call) => {
      if (call === `update ${RUN}`) stop.abort(new Error("the process ends"));
    };
    engine.states.set("shop_web", { State: "shutdown" });
    await before.run.begin(stop.signal).catch(() => {});
    engine.onCall = () => {};
    engine.specs.set(RUN, { ...engine.specs.get(RUN), Mode: IDLE });
    const after = await createWorld(engine, stopping);
    await assert.rejects(after.run.adopt(`${RUN}-id`, never), /ended before it was started/);
    assert.equal(engine.specs.has(RUN), false);
    assert.equal(replicas(engine), 2);
    const again = await createWorld(engine, stopping);
    await assert.rejects(again.run.adopt("gone-id", never), /its service is gone/);
  });

  it("restart: runs the job's own service once more, and waits only where it has to", async () => {
    const engine = createMemorySwarm([backup]);
    const { run } = await createWorld(engine, { mode: "restart", stopServices: [] });
    await run.begin(never);
    assert.equal(await run.end(never), undefined);
    assert.deepEqual(engine.calls, ["update shop_backup"]);
    const one = { ReplicatedJob: { MaxConcurrent: 1, TotalCompletions: 1 } };
    assert.deepEqual(engine.specs.get("shop_backup")?.["Mode"], one);
    const waiting = { mode: "restart", stopServices: [], maxSeconds: 60 } as const;
    const second = await createWorld(engine, waiting);
    await second.run.begin(never);
    assert.equal(await second.run.end(never), 0);
  });

  it("restart: goes on while its swarm has no leader, or its engine is away", async () => {
    const engine = createMemorySwarm([backup, web()]);
    const { run, clock } = await createWorld(engine, { ...stopping, mode: "restart" });
    engine.states.set("shop_web", { State: "shutdown" });
    await run.begin(never);
    const { service, tasksOf } = engine.swarm;
    const leaderless = "engine refused GET /services: 503 The swarm does not have a leader";
    engine.swarm.tasksOf = () => Promise.reject(errors.engine_refused(leaderless));
    const ended = run.end(never);
    await clock.advance(60_000);
    engine.swarm.service = () => Promise.reject(errors.engine_unreachable("cut"));
    await clock.advance(60_000);
    assert.equal(replicas(engine), 0);
    Object.assign(engine.swarm, { service, tasksOf });
    await clock.advance(60_000);
    assert.equal(await ended, 0);
    assert.equal(replicas(engine), 2);
  });

  it("restart: has no task any more when it is cut off", async () => {
    const engine = createMemorySwarm([backup]);
    engine.states.set("shop_backup", { State: "running" });
    const waiting = { mode: "restart", stopServices: [], maxSeconds: 60 } as const;
    const { run } = await createWorld(engine, waiting);
    const cut = new AbortController();
    await run.begin(cut.signal);
    cut.abort(new Error("handed over"));
    await assert.rejects(run.end(cut.signal), /handed over/);
    assert.deepEqual(engine.specs.get("shop_backup")?.["Mode"], IDLE);
  });

  for (const mode of ["one_off", "restart"] as const) {
    it(`${mode}: makes no task and stops nothing where it is not ready`, async () => {
      const engine = createMemorySwarm([backup, web()]);
      const ready = () => Promise.reject(new Error("a link leads elsewhere"));
      const { run } = await createWorld(engine, { ...stopping, mode }, false, { ready });
      await assert.rejects(run.begin(never), /a link leads elsewhere/);
      assert.deepEqual(engine.calls, []);
    });

    it(`${mode}: makes no task where what it stopped left that unsafe, nor one of that`, async () => {
      const engine = createMemorySwarm([backup, web()]);
      engine.states.set("shop_web", { State: "shutdown" });
      const asked: string[] = [];
      const requireStartable = (stack: string) => {
        asked.push(stack);
        return Promise.reject(new Error("a link leads elsewhere"));
      };
      const checks = { requireStartable };
      const { run, log } = await createWorld(engine, { ...stopping, mode }, false, checks);
      await assert.rejects(run.begin(never), /a link leads elsewhere/);
      assert.deepEqual(asked, ["shop", "shop"]);
      assert.deepEqual(engine.specs.get("shop_backup")?.["Mode"], IDLE);
      assert.equal(engine.specs.has(RUN), false);
      assert.equal(replicas(engine), 0);
      assert.match(log.lines[0]?.message ?? "", /after the run of a job: a link leads elsewhere/);
    });
  }

  it("leaves alone what somebody scaled meanwhile", async () => {
    const engine = createMemorySwarm([backup, web()]);
    const { run } = await createWorld(engine, stopping);
    engine.states.set("shop_web", { State: "shutdown" });
    await run.begin(never);
    engine.specs.set("shop_web", {
      ...engine.specs.get("shop_web"),
      Mode: { Replicated: { Replicas: 5 } },
    });
    await run.end(never);
    assert.equal(replicas(engine), 5);
  });
});

describe("findSwarmJobs()", () => {
  it("finds a run of a job whose service is gone, to be taken over", async () => {
    const engine = createMemorySwarm([backup]);
    const { run, found } = await createWorld(engine, { mode: "one_off", stopServices: [] });
    await run.begin(never);
    await engine.swarm.removeService?.(found.swarm ?? "", never);
    const [left, ...more] = await findSwarmJobs(engine, { context: "default" }, never);
    assert.deepEqual(more, []);
    assert.deepEqual([left?.service, left?.scale, left?.key.name], ["backup", 0, "shop"]);
    assert.equal(left?.container.service, "backup");
    assert.deepEqual(left?.executions.map(({ id }) => id), [left?.swarm]);
    assert.notEqual(left?.swarm, found.swarm);
  });
});
