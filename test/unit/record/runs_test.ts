import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run, RunTarget, Trigger } from "../../../src/model/mod.ts";
import { createRuns, RUN_LIFETIME_MS, RUNS_PER_TRIGGER } from "../../../src/record/runs.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { takesAtMost } from "../processor_time.ts";

const DONE = { status: "succeeded", message: "done" } as const;

function createStore() {
  const clock = createFakeClock();
  const runs = createRuns({ clock });
  let count = 0;
  const accept = (trigger: Trigger = "poll") => runs.accept({ id: `run-${++count}`, trigger });
  const finished = (trigger: Trigger = "poll") => runs.finish(accept(trigger).id, DONE);
  const ids = (limit = 200) => runs.list({ limit }).map(({ id }) => id);
  return { clock, runs, accept, finished, ids };
}

describe("RunStore", () => {
  it("goes from accepted over running to its end, dating each step", async () => {
    const { clock, runs, accept } = createStore();
    const { id, createdAt } = accept();
    await clock.advance(1_000);
    const running = runs.start(id);
    await clock.advance(1_000);
    const end = runs.finish(id, { status: "skipped", message: " no changes\n" });
    assert.equal(running.status, "running");
    assert.deepEqual(end, {
      ...running,
      status: "skipped",
      message: "no changes",
      startedAt: new Date(createdAt.getTime() + 1_000),
      finishedAt: new Date(createdAt.getTime() + 2_000),
      updatedAt: new Date(createdAt.getTime() + 2_000),
    });
  });

  it("finish() dates the start of a run that never started", () => {
    const { runs, accept } = createStore();
    const end = runs.finish(accept().id, { status: "failed", message: "refused" });
    assert.deepEqual(end.startedAt, end.finishedAt);
  });

  it("a terminal run is final: the first end wins and nothing changes it", () => {
    const { runs, accept } = createStore();
    const { id } = accept();
    const end = runs.finish(id, { status: "failed", message: "cancelled by shutdown" });
    const target: RunTarget = { context: "default", stack: "late", status: "succeeded" };
    for (
      const change of [
        () => runs.finish(id, DONE),
        () => runs.start(id),
        () => runs.describe(id, { revision: "late" }),
        () => runs.target(id, target),
      ]
    ) assert.deepEqual(change(), end);
    assert.deepEqual(runs.get(id), end);
  });

  it("describe() fills in what is given and leaves the rest", () => {
    const { runs, accept } = createStore();
    const { id } = accept();
    runs.describe(id, { repository: "example.org/acme/shop", target: "prod" });
    const run = runs.describe(id, { revision: "main (4f1c2d3)" });
    assert.deepEqual([run.repository, run.target, run.revision], [
      "example.org/acme/shop",
      "prod",
      "main (4f1c2d3)",
    ]);
  });

  it("target() keeps one entry per context and stack, sorted by both", () => {
    const { runs, accept } = createStore();
    const { id } = accept();
    const entry = (context: string, stack: string, status: RunTarget["status"] = "pending") =>
      runs.target(id, { context, stack, status });
    entry("edge", "a");
    entry("default", "b");
    entry("default", "a");
    const run = entry("default", "b", "succeeded");
    assert.deepEqual(run.targets.map((each) => `${each.context}/${each.stack} ${each.status}`), [
      "default/a pending",
      "default/b succeeded",
      "edge/a pending",
    ]);
  });

  it("target() compares an entry with few of those that are there", () => {
    const { runs, accept } = createStore();
    const { id } = accept();
    let compared = 0;
    const named = (number: number) => {
      const name = `s${String(number).padStart(4, "0")}`;
      return { toString: () => (compared++, name) } as unknown as string;
    };
    const entry = (number: number, status: RunTarget["status"] = "pending") =>
      runs.target(id, { context: "default", stack: named(number), status });
    for (let number = 0; number < 256; number++) entry((number * 37) % 256);
    compared = 0;
    const { targets } = entry(100, "succeeded");
    assert.ok(compared < 60, `${compared} names were looked at`);
    assert.equal(targets.length, 256);
    assert.equal(targets[100]?.status, "succeeded");
  });

  it("runs are values: a change leaves those handed out before alone", () => {
    const { runs, accept } = createStore();
    const before = accept();
    runs.target(before.id, { context: "default", stack: "a", status: "running" });
    runs.start(before.id);
    assert.deepEqual([before.status, before.targets], ["accepted", []]);
  });

  it("changing a run that does not exist throws", () => {
    assert.throws(() => createStore().runs.start("nobody"), { code: "internal" });
  });

  it("list() is newest first, filters before it limits", async () => {
    const { clock, runs, accept, finished } = createStore();
    accept("webhook");
    await clock.advance(1);
    finished("poll");
    finished("poll");
    await clock.advance(1);
    accept("poll");
    const list = (filter: Parameters<typeof runs.list>[0]) => runs.list(filter).map((r) => r.id);
    assert.deepEqual(list({ limit: 9 }), ["run-4", "run-3", "run-2", "run-1"]);
    assert.deepEqual(list({ limit: 2 }), ["run-4", "run-3"]);
    assert.deepEqual(list({ limit: 1, status: "succeeded" }), ["run-3"]);
    assert.deepEqual(list({ limit: 9, trigger: "webhook" }), ["run-1"]);
    assert.deepEqual(list({ limit: 9, trigger: "poll", status: "accepted" }), ["run-4"]);
  });

  it("keeps 50 runs of each trigger, evicting the oldest finished ones", () => {
    const { finished, accept, ids } = createStore();
    accept("poll"); // run-1 goes on and stays, although it is the oldest
    finished("webhook"); // run-2 counts for another trigger
    for (let i = 0; i < RUNS_PER_TRIGGER; i++) finished("poll"); // run-3 is the oldest of these
    assert.equal(ids().length, RUNS_PER_TRIGGER + 1);
    assert.deepEqual(ids().slice(-3), ["run-4", "run-2", "run-1"]);
  });

  it("keeps more than 50 while all of them are active", () => {
    const { runs, accept, ids } = createStore();
    for (let i = 0; i < RUNS_PER_TRIGGER + 5; i++) accept();
    assert.equal(ids().length, RUNS_PER_TRIGGER + 5);
    for (let i = 1; i <= 5; i++) runs.finish(`run-${i}`, DONE);
    assert.equal(ids().length, RUNS_PER_TRIGGER);
  });

  it("forgets one that was held when it ended, and is no longer", () => {
    const { runs, accept, ids } = createStore();
    const letGo = runs.hold(accept("webhook").id);
    for (let i = 0; i < RUNS_PER_TRIGGER; i++) accept("webhook");
    runs.finish("run-1", DONE);
    assert.equal(ids().length, RUNS_PER_TRIGGER + 1);
    letGo();
    assert.deepEqual([ids().length, ids().at(-1)], [RUNS_PER_TRIGGER, "run-2"]);
  });

  it("looks at nothing that waits, however much does, when a run is accepted or ends", async () => {
    const { runs, accept, finished } = createStore();
    for (let i = 0; i < 20_000; i++) {
      runs.accept({ id: `waits-${i}`, trigger: "webhook", repository: `h/o/r${i % 7}` });
    }
    let ended = 0;
    const work = () => {
      for (let i = 0; i < 1_000; i++) runs.hold(accept("webhook").id);
      for (let i = 0; i < 1_000; i++) finished("poll");
      for (let i = 0; i < 1_000; i++) runs.finish(`waits-${ended++}`, DONE);
    };
    assert.ok(await takesAtMost(500, work));
  });

  it("a run that is held stays, ended or not, until it is let go", async () => {
    const { clock, runs, accept, finished } = createStore();
    const { id } = accept();
    const letGo = runs.hold(id);
    runs.finish(id, DONE);
    for (let i = 0; i < RUNS_PER_TRIGGER; i++) finished();
    await clock.advance(RUN_LIFETIME_MS);
    assert.equal(runs.describe(id, { message: "still at it" }).status, DONE.status);
    letGo();
    assert.throws(() => runs.describe(id, {}), { code: "internal" });
  });

  it("a finished run expires seven days after its creation, an active one never", async () => {
    const { clock, runs, accept, finished, ids } = createStore();
    const active = accept().id;
    const old = finished().id;
    await clock.advance(RUN_LIFETIME_MS - 1);
    assert.ok(runs.get(old));
    await clock.advance(1);
    assert.equal(runs.get(old), undefined);
    assert.deepEqual(ids(), [active]);
    runs.finish(active, DONE);
    assert.equal(runs.get(active), undefined);
  });

  it("subscribe() hears of every change until it is ended", () => {
    const { runs, accept } = createStore();
    const heard: Run[] = [];
    const end = runs.subscribe((run) => heard.push(run));
    const { id } = accept();
    runs.start(id);
    runs.start(id);
    runs.finish(id, DONE);
    runs.finish(id, DONE);
    end();
    end();
    accept();
    assert.deepEqual(heard.map(({ status }) => status), ["accepted", "running", "succeeded"]);
  });
});
