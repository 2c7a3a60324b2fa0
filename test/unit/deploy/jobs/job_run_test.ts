import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { containerJobs } from "../../../../src/deploy/jobs/container_jobs.ts";
import { findJobs } from "../../../../src/deploy/jobs/find_jobs.ts";
import { type JobOrder, JobRun } from "../../../../src/deploy/jobs/job_run.ts";
import type { EngineClient } from "../../../../src/docker/mod.ts";
import { type ContainerState, errors } from "../../../../src/model/mod.ts";
import { createLimiter } from "../../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";
import {
  createMemoryEngine,
  type MemoryEngine,
  runningContainer,
} from "../../../fakes/memory_engine.ts";
import { createMemoryLedger } from "../../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

const never = new AbortController().signal;
const backup = runningContainer("shop", "backup", {
  state: "created",
  labels: { "stackwright.job.enabled": "true" },
});

/** An engine with the container of a run that stopped `web-id`, which nobody looks after any more. */
function engineAfter(state: ContainerState): MemoryEngine {
  const execution = runningContainer("shop", "backup", {
    id: "run-id",
    name: "shop-backup-stackwright-job-7",
    state,
    labels: {
      ...backup.labels,
      "com.docker.compose.oneoff": "True",
      "stackwright.job.run": "7",
      "stackwright.job.stops": '["web-id"]',
    },
  });
  return createMemoryEngine([backup, execution]);
}

async function createRun(engine: MemoryEngine, clock = createFakeClock()) {
  const [found] = await findJobs(engine, { context: "default", isManager: false }, never);
  assert.ok(found);
  const log = createRecordingLog();
  const facts = {
    // The other calls that a run makes are all there.
    engine: Object.assign(engine, {
      waitContainer: () => Promise.resolve(5),
    }) as unknown as EngineClient,
    clock,
    log,
    found,
    spec: { mode: "one_off", stopServices: [{ project: "shop", service: "web" }] } as const,
    ready: () => Promise.resolve([]),
    requireStartable: () => Promise.resolve(),
    notes: createMemoryLedger(createFakeClock()).stoppedByJobs.of(found.key, found.service),
    nextId: () => "8",
    leaves: () => false,
    isTaken: () => false,
    making: createLimiter(8).run,
    progress: () => {},
  };
  const run = new JobRun(facts, containerJobs(facts));
  return { run, found, log, facts };
}

const away = () => errors.engine_unreachable("the connection was cut");
const restarts = { mode: "restart", stopServices: [{ project: "shop", service: "web" }] } as const;

/** A run in the job's own container that has begun, and what tells how its container ends. */
async function begunRun(spec: JobOrder = restarts) {
  const engine = createMemoryEngine([backup, runningContainer("shop", "web")]);
  const clock = createFakeClock();
  const { facts, log } = await createRun(engine, clock);
  const waits: PromiseWithResolvers<number>[] = [];
  facts.engine.waitContainer = (_id, within) => {
    const wait = Promise.withResolvers<number>();
    within.addEventListener("abort", () => wait.reject(within.reason));
    waits.push(wait);
    return wait.promise;
  };
  const run = new JobRun({ ...facts, spec }, containerJobs({ ...facts, spec }));
  const end = new AbortController();
  await run.begin(end.signal);
  engine.calls.splice(0);
  return { engine, clock, facts, log, waits, run, end };
}

describe("the run of a job whose engine goes away", () => {
  it("goes on with its container: nothing that it stopped is started beside it", async () => {
    const { engine, clock, waits, run } = await begunRun();
    const ended = run.end(never);
    waits[0]?.reject(away());
    await clock.advance(1000);
    const { info } = engine;
    engine.info = () => Promise.reject(away());
    waits[1]?.reject(away());
    await clock.advance(60_000);
    assert.deepEqual([engine.calls, waits.length], [[], 2]);
    engine.info = info;
    await clock.advance(60_000);
    assert.deepEqual([engine.calls, waits.length], [[], 3]);
    waits[2]?.resolve(7);
    assert.equal(await ended, 7);
    assert.deepEqual(engine.calls, ["start web-id"]);
  });

  it("has what an engine that starts has started by itself stopped again, if the run goes on", async () => {
    const { engine, clock, waits, run, log } = await begunRun();
    const ended = run.end(never);
    const jobIs = (state: ContainerState) => {
      engine.containers = engine.containers.map((each) =>
        each.id === backup.id ? { ...each, state } : each
      );
    };
    jobIs("running");
    waits[0]?.reject(away());
    await clock.advance(1000);
    assert.deepEqual([engine.calls.splice(0), waits.length], [["stop web-id"], 2]);
    // One that is gone is nobody's to stop; the run is waited for all the same.
    engine.stopContainer = () => Promise.reject(errors.not_found("no such container"));
    waits[1]?.reject(away());
    await clock.advance(1000);
    assert.match(JSON.stringify(log.lines), /could not be stopped again while it runs/);
    // Where its container has ended with the engine, what it stopped is started soon.
    jobIs("exited");
    waits[2]?.reject(away());
    await clock.advance(1000);
    waits[3]?.resolve(0);
    assert.equal(await ended, 0);
    assert.deepEqual([engine.calls, log.lines.length], [["start web-id"], 1]);
  });

  it("is ended at its longest time, as soon as that can be asked for, and before all else", async () => {
    const { engine, clock, waits, run } = await begunRun({ ...restarts, maxSeconds: 60 });
    const ended = assert.rejects(run.end(never), /ended after 60 seconds/);
    const { info, stopContainer } = engine;
    engine.stopContainer = () => Promise.reject(away());
    engine.info = () => Promise.reject(away());
    waits[0]?.reject(away());
    await clock.advance(120_000);
    assert.deepEqual(engine.calls, []);
    Object.assign(engine, { info, stopContainer });
    await clock.advance(60_000);
    await ended;
    assert.deepEqual(engine.calls, ["stop backup-id", "start web-id"]);
  });

  it("starts what it stopped as soon as the engine is back", async () => {
    const { engine, clock, facts, waits, run } = await begunRun();
    const { info, startContainer } = engine;
    engine.startContainer = () => Promise.reject(away());
    engine.info = () => Promise.reject(away());
    const ended = run.end(never);
    waits[0]?.resolve(0);
    await clock.advance(600_000);
    assert.deepEqual(facts.notes.get()?.stops, ["web-id"]);
    Object.assign(engine, { info, startContainer });
    await clock.advance(60_000);
    assert.equal(await ended, 0);
    assert.deepEqual(engine.calls, ["start web-id"]);
    assert.equal(facts.notes.get(), undefined);
  });

  it("leaves what it stopped to the next process where this one ends before the engine is back", async () => {
    const { engine, clock, facts, run, end } = await begunRun();
    facts.leaves = () => true;
    engine.startContainer = () => Promise.reject(away());
    engine.info = () => Promise.reject(away());
    const ended = assert.rejects(run.end(end.signal), /the service ends/);
    await clock.advance(1000);
    end.abort(new Error("the service ends"));
    await ended;
    const { id, stops, mayRun, isOver } = facts.notes.get() ?? {};
    assert.deepEqual([id, stops, mayRun, isOver], ["backup-id", ["web-id"], true, false]);
  });
});

describe("what a run could not start again", () => {
  const broken = () => Promise.reject(errors.engine_refused("the port is taken"));

  it("is noted, and taken up by whoever adopts the run, once it ended", async () => {
    const { engine, facts, waits, run } = await begunRun();
    const { startContainer } = engine;
    engine.startContainer = broken;
    const ended = run.end(never);
    waits[0]?.resolve(0);
    assert.equal(await ended, 0);
    engine.startContainer = startContainer;
    const again = new JobRun({ ...facts, spec: restarts }, containerJobs({ ...facts }));
    await assert.rejects(again.adopt("backup-id", never), /its last run ended before all/);
    assert.deepEqual(engine.calls, ["start web-id"]);
    assert.equal(facts.notes.get(), undefined);
  });

  it("is started by the next run, which does not stop it", async () => {
    const { engine, facts, waits, run } = await begunRun();
    const { startContainer } = engine;
    engine.startContainer = broken;
    const ended = run.end(never);
    waits[0]?.resolve(0);
    await ended;
    engine.startContainer = startContainer;
    engine.containers = engine.containers.map((each) => ({ ...each, state: "exited" }));
    const next = new JobRun({ ...facts, spec: restarts }, containerJobs(facts));
    await next.begin(never);
    const second = next.end(never);
    waits[1]?.resolve(0);
    assert.equal(await second, 0);
    assert.deepEqual(engine.calls, ["start backup-id", "start web-id"]);
    assert.equal(facts.notes.get(), undefined);
  });

  it("stays known when the container of a single run, whose label told of it, is removed", async () => {
    const engine = engineAfter("running");
    const { run, facts } = await createRun(engine);
    engine.startContainer = broken;
    await run.adopt("run-id", never);
    assert.equal(await run.end(never), 5);
    assert.deepEqual(engine.calls, ["remove run-id with volumes"]);
    const { id, stops, isOwn, isOver } = facts.notes.get() ?? {};
    assert.deepEqual([id, stops, isOwn, isOver], ["run-id", ["web-id"], true, true]);
  });

  it("is nobody's any more where it is gone, or a person stopped it", async () => {
    for (
      const error of [
        errors.conflict("a person stopped it"),
        errors.engine_refused(
          "engine refused POST /containers/web-id/start: 404 No such container",
        ),
      ]
    ) {
      const { engine, facts, waits, run, log } = await begunRun();
      engine.startContainer = () => Promise.reject(error);
      const ended = run.end(never);
      waits[0]?.resolve(0);
      assert.equal(await ended, 0);
      assert.equal(facts.notes.get(), undefined);
      assert.match(log.lines[0]?.message ?? "", /^after the run of a job: /);
    }
  });
});

describe("the run of a job in a container", () => {
  it("is put away when all that it stopped runs: it alone remembers that", async () => {
    const engine = engineAfter("running");
    const { run } = await createRun(engine);
    const started = Promise.withResolvers<void>();
    engine.startContainer = (id) => {
      engine.calls.push(`start ${id}`);
      return started.promise;
    };
    await run.adopt("run-id", never);
    const ended = run.end(never);
    await settle();
    assert.deepEqual(engine.calls, ["start web-id"]);
    started.resolve();
    assert.equal(await ended, 5);
    assert.deepEqual(engine.calls, ["start web-id", "remove run-id with volumes"]);
  });

  it("keeps nothing down until what it printed is read", async () => {
    const engine = engineAfter("running");
    const { run } = await createRun(engine);
    const printed = Promise.withResolvers<string[]>();
    engine.containerLogs = () => printed.promise;
    await run.adopt("run-id", never);
    const ended = run.end(never);
    await settle();
    assert.deepEqual(engine.calls, ["start web-id"]);
    printed.resolve(["no space left"]);
    assert.equal(await ended, 5);
    assert.deepEqual(engine.calls, ["start web-id", "remove run-id with volumes"]);
    assert.equal(run.output, ": no space left");
  });

  it("tells whole lines of much output, as nothing masks the rest of a secret", async () => {
    const told = async (...printed: string[]) => {
      const engine = engineAfter("running");
      const { run } = await createRun(engine);
      engine.containerLogs = () => Promise.resolve(printed);
      await run.adopt("run-id", never);
      await run.end(never);
      return run.output;
    };
    const long = "w".repeat(16 * 1024 - 10);
    assert.equal(await told("a pass phrase", long), `: ${long}`);
    assert.equal(await told("a pass phrase", "next", long), `; last output:\nnext\n${long}`);
    assert.equal(await told(`a pass phrase ${long}`, ""), `: a pass phrase ${"w".repeat(16370)}…`);
    assert.equal(await told("", ""), "");
  });

  it("is put away also where what it stopped cannot be started", async () => {
    const engine = engineAfter("running");
    const { run, log } = await createRun(engine);
    engine.startContainer = () => Promise.reject(new Error("no such container"));
    await run.adopt("run-id", never);
    assert.equal(await run.end(never), 5);
    assert.deepEqual(engine.calls, ["remove run-id with volumes"]);
    assert.deepEqual(log.lines.map(({ message }) => message), [
      "after the run of a job: no such container",
    ]);
  });

  it("in the job's own container is taken over with what it had stopped, if its process was killed", async () => {
    const left = async (
      last: "startContainer" | "stopContainer",
      state: ContainerState,
      exitCode: number | RegExp,
    ) => {
      const engine = createMemoryEngine([backup, runningContainer("shop", "web")]);
      const { facts } = await createRun(engine);
      const all = { ...facts, spec: { ...facts.spec, mode: "restart" } as const };
      const answers = engine[last];
      // What a killed process calls last has no answer, and nothing comes after it.
      engine[last] = () => new Promise(() => {});
      void new JobRun(all, containerJobs(all)).begin(never);
      await settle();
      Object.assign(engine, { [last]: answers });
      engine.containers = engine.containers.map((each) =>
        each.id === backup.id ? { ...each, state } : each
      );
      const calls = engine.calls.length;
      const next = new JobRun(all, containerJobs(all));
      if (typeof exitCode === "number") {
        await next.adopt(backup.id, never);
        assert.equal(await next.end(never), exitCode);
      } else await assert.rejects(next.adopt(backup.id, never), exitCode);
      assert.equal(facts.notes.get(), undefined);
      return engine.calls.slice(calls);
    };
    assert.deepEqual(await left("startContainer", "running", 5), ["start web-id"]);
    assert.deepEqual(await left("stopContainer", "exited", /ended before it was started/), [
      "start web-id",
    ]);
  });

  it("in the job's own container ends as it may where nothing is known of it any more", async () => {
    const { run, facts } = await createRun(createMemoryEngine([{ ...backup, state: "running" }]));
    await run.adopt(backup.id, never);
    assert.equal(await run.end(never), 5);
    assert.deepEqual((facts.engine as unknown as MemoryEngine).calls, []);
  });

  it("is found and put away when it ended while nobody was there", async () => {
    const engine = engineAfter("exited");
    const { run, found } = await createRun(engine);
    assert.deepEqual(found.executions.map(({ id }) => id), ["run-id"]);
    await run.adopt("run-id", never);
    assert.equal(await run.end(never), 5);
    assert.deepEqual(engine.calls, ["start web-id", "remove run-id with volumes"]);
  });

  it("that was made and not started is put away when the process ends: nothing of it runs", async () => {
    const web = runningContainer("shop", "web");
    const engine = createMemoryEngine([backup, web]);
    const { facts } = await createRun(engine);
    const end = new AbortController();
    engine.containerRecipe = () =>
      Promise.resolve({ ...backup, runs: false, imageId: "i", labels: {}, body: { Image: "i" } });
    engine.images["i"] = "i";
    engine.createContainer = () => Promise.resolve("own-id");
    engine.onCall = (call) => {
      if (call === `stop ${web.id}`) end.abort(new Error("the service ends"));
    };
    facts.leaves = () => true;
    const run = new JobRun(facts, containerJobs(facts));
    await assert.rejects(run.begin(end.signal), /the service ends/);
    assert.ok(!run.isLeft);
    const calls = [`stop ${web.id}`, `start ${web.id}`, "remove own-id with volumes"];
    assert.deepEqual(engine.calls, calls);
  });

  it("is put away where the engine went away while its container was made: it may be there", async () => {
    const engine = createMemoryEngine([backup]);
    const { facts } = await createRun(engine);
    engine.containerRecipe = () =>
      Promise.resolve({ ...backup, runs: false, imageId: "i", labels: {}, body: { Image: "i" } });
    engine.images["i"] = "i";
    engine.createContainer = () => Promise.reject(away());
    await assert.rejects(new JobRun(facts, containerJobs(facts)).begin(never), /was cut/);
    assert.deepEqual(engine.calls, [`remove ${backup.name}-stackwright-job-8 with volumes`]);
  });

  it("has its container made when few others are", async () => {
    const { run, facts } = await createRun(createMemoryEngine([backup]));
    let asked = 0;
    facts.engine.containerRecipe = () => Promise.resolve(void asked++);
    const others = Promise.withResolvers<void>();
    const all = Array.from({ length: 8 }, () => facts.making(() => others.promise, never));
    const begun = assert.rejects(run.begin(never), /is gone/);
    await settle();
    assert.equal(asked, 0);
    others.resolve();
    await Promise.all([...all, begun]);
    assert.equal(asked, 1);
  });

  it("restarts its container only if that may be started, also after what it stopped has ended", async () => {
    const { facts } = await createRun(
      createMemoryEngine([backup, runningContainer("shop", "web")]),
    );
    const { calls } = facts.engine as unknown as MemoryEngine;
    const spec = { ...facts.spec, mode: "restart" } as const;
    const refused = () => Promise.reject(new Error("a link leads elsewhere"));
    const begin = async (checks: Partial<typeof facts>) => {
      const all = { ...facts, ...checks, spec };
      await assert.rejects(new JobRun(all, containerJobs(all)).begin(never), /a link leads/);
      return calls.splice(0);
    };
    assert.deepEqual(await begin({ ready: refused }), []);
    let looks = 0;
    const requireStartable = () => looks++ === 0 ? refused() : Promise.resolve();
    assert.deepEqual(await begin({ requireStartable }), ["stop web-id", "start web-id"]);
  });

  /** The calls of a run in the job's own container that is cut off while it runs. */
  const cutOff = async (
    facts: { readonly leaves?: () => boolean; readonly isTaken?: () => boolean },
  ) => {
    const engine = createMemoryEngine([backup, runningContainer("shop", "web")]);
    const { facts: rest } = await createRun(engine);
    const cut = new AbortController();
    rest.engine.waitContainer = (_id, within) =>
      new Promise((_, reject) => within.addEventListener("abort", () => reject(within.reason)));
    const all = { ...rest, ...facts, spec: { ...rest.spec, mode: "restart" } as const };
    const run = new JobRun(all, containerJobs(all));
    await run.begin(cut.signal);
    const ended = assert.rejects(run.end(cut.signal), /handed over/);
    cut.abort(new Error("handed over"));
    await ended;
    return engine.calls.slice(2);
  };

  it("stops its own container when it is cut off, unless the process ends or another owner has it", async () => {
    assert.deepEqual(await cutOff({}), ["start web-id", "stop backup-id"]);
    assert.deepEqual(await cutOff({ leaves: () => true }), ["start web-id"]);
    assert.deepEqual(await cutOff({ isTaken: () => true }), ["start web-id"]);
  });

  it("starts its own container again in two steps, between which it can be cut off", async () => {
    const serving = { ...backup, state: "running" as const };
    const { facts } = await createRun(createMemoryEngine([serving]));
    const { calls } = facts.engine as unknown as MemoryEngine;
    const all = { ...facts, spec: { mode: "restart", stopServices: [] } as const };
    const cut = new AbortController();
    Object.assign(facts.engine, {
      onCall: (call: string) => void (calls.length === 0 && call && cut.abort(new Error("cut"))),
    });
    await assert.rejects(new JobRun(all, containerJobs(all)).begin(cut.signal), /cut/);
    assert.deepEqual(calls, ["stop backup-id", "stop backup-id"]);
  });

  it("is looked at once before its container is restarted, where nothing has to be stopped", async () => {
    const { facts } = await createRun(createMemoryEngine([backup]));
    const spec = { mode: "restart", stopServices: [] } as const;
    const requireStartable = () => Promise.reject(new Error("it was ready a moment ago"));
    const all = { ...facts, requireStartable, spec };
    await new JobRun(all, containerJobs(all)).begin(never);
    const { calls } = facts.engine as unknown as MemoryEngine;
    assert.deepEqual(calls, ["start backup-id"]);
  });

  it("starts nothing again of a stack where nothing may be started, and all of the others", async () => {
    const stops = ["web-id", "db-id", "api-id"];
    const labels = { "stackwright.job.run": "7", "stackwright.job.stops": JSON.stringify(stops) };
    const engine = createMemoryEngine([
      backup,
      runningContainer("shop", "backup", { id: "run-id", labels }),
      runningContainer("shop", "web", { state: "exited" }),
      runningContainer("evil", "db", { state: "exited" }),
      runningContainer("evil", "api", { state: "exited" }),
    ]);
    const { facts, log } = await createRun(engine);
    const asked: string[] = [];
    const requireStartable = (stack: string) => {
      asked.push(stack);
      return stack === "evil" ? Promise.reject(new Error("a link leads out")) : Promise.resolve();
    };
    const run = new JobRun({ ...facts, requireStartable }, containerJobs(facts));
    await run.adopt("run-id", never);
    assert.equal(await run.end(never), 5);
    assert.deepEqual(engine.calls, ["start web-id", "remove run-id with volumes"]);
    assert.deepEqual(asked.sort(), ["evil", "shop"]);
    const said = "after the run of a job: a link leads out";
    assert.deepEqual(log.lines.map(({ message }) => message), [said, said]);
  });

  it("does not begin where an engine tells of thousands of containers to stop", async () => {
    const serving = Array.from(
      { length: 1001 },
      (_, at) => runningContainer("shop", "web", { id: `web-${at}` }),
    );
    const { facts } = await createRun(createMemoryEngine([backup, ...serving]));
    const { calls } = facts.engine as unknown as MemoryEngine;
    const spec = { ...facts.spec, mode: "restart" } as const;
    const run = new JobRun({ ...facts, spec }, containerJobs({ ...facts, spec }));
    await assert.rejects(run.begin(never), /it would stop 1001 containers, and the most is 1000/);
    assert.deepEqual(calls, []);
  });

  it("stops few at a time, and starts few again", async () => {
    const serving = Array.from(
      { length: 40 },
      (_, at) => runningContainer("shop", "web", { id: `web-${at}` }),
    );
    const { facts } = await createRun(createMemoryEngine([backup, ...serving]));
    let [now, most, stopped, started] = [0, 0, 0, 0];
    const taking = async () => {
      most = Math.max(most, ++now);
      await settle();
      now--;
    };
    const { engine } = facts;
    engine.stopContainer = () => taking().then(() => void stopped++);
    engine.startContainer = (id) =>
      id === backup.id ? Promise.reject(new Error("no")) : taking().then(() => void started++);
    const spec = { ...facts.spec, mode: "restart" } as const;
    const run = new JobRun({ ...facts, spec }, containerJobs({ ...facts, spec }));
    await assert.rejects(run.begin(never), /no/);
    assert.deepEqual([stopped, started, most], [40, 40, 16]);
  });

  it("stops what serves, and no run of another job of that service", async () => {
    const serving = runningContainer("shop", "web");
    const oneOff = runningContainer("shop", "web", {
      id: "other-run",
      labels: { "com.docker.compose.oneoff": "True" },
    });
    const { facts } = await createRun(createMemoryEngine([backup, serving, oneOff]));
    assert.deepEqual(await containerJobs(facts).toStop(never), [serving.id]);
  });
});
