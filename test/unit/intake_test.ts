import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  CANCELLED_BY_CLIENT,
  CANCELLED_BY_SHUTDOWN,
  type Conclude,
  createIntake,
  type Execute,
} from "../../src/intake.ts";
import { MOST_OF_REPOSITORY } from "../../src/intake/admission.ts";
import { messageOf, type SourceRequest, StackwrightError, type Sync } from "../../src/model/mod.ts";
import { createRuns, RUNS_PER_TRIGGER } from "../../src/record/runs.ts";
import { LedgerDatabase } from "../../src/record/ledger_database.ts";
import { RunArchive } from "../../src/record/run_archive.ts";
import type { KeptRuns } from "../../src/record/run_store.ts";
import { abortable, createKeyedLock, createRedactor } from "../../src/system/mod.ts";
import { createFakeClock, settle } from "../fakes/fake_clock.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";
import { longestStretch } from "./processor_time.ts";

const SECRET = "s3cr3t-t0k3n";
const NEVER = new Promise<void>(() => {});
const source: SourceRequest = {
  kind: "git",
  url: "https://example.org/acme/shop",
  reference: "main",
  target: "prod",
  deployments: [],
};
const work: Sync = { kind: "sync", trigger: "webhook", origin: "automatic", sources: [source] };

/** Says what it was told, so that a test sees both. */
const conclude: Conclude = (targets, { failures }) =>
  failures.length > 0 || targets.some(({ status }) => status !== "succeeded")
    ? { status: "failed", message: failures.join("|") || "targets failed" }
    : { status: "succeeded", message: `${targets.length} targets` };

function createGate(execute: Execute, kept?: KeptRuns) {
  const clock = createFakeClock();
  const log = createRecordingLog();
  const runs = createRuns({ clock, ...(kept && { kept }) });
  const redactor = createRedactor();
  redactor.add(SECRET);
  let count = 0;
  const ids = { next: () => `run-${++count}` };
  const parts = { runs, performers: { sync: execute }, conclude, clock, ids, redactor, log };
  return { clock, log, runs, intake: createIntake(parts) };
}

/** Work that ends when told, and notes how it was aborted. */
function heldWork({ deaf = false } = {}) {
  const release = Promise.withResolvers<void>();
  const aborts: unknown[] = [];
  const execute: Execute = (_work, _reporter, signal) => {
    signal.addEventListener("abort", () => {
      aborts.push(signal.reason);
      if (!deaf) release.reject(signal.reason);
    });
    return release.promise;
  };
  return { execute, release: release.resolve, aborts };
}

function isRejected({ status }: PromiseSettledResult<void>): boolean {
  return status === "rejected";
}

describe("Intake.submit()", () => {
  it("masks secrets in what is known of a run before anything was looked at", () => {
    const { intake } = createGate(() => Promise.resolve());
    const sources = [{ ...source, target: `to-${SECRET}` }];
    const { run } = intake.submit({ ...work, sources }, { repository: `host/${SECRET}` });
    assert.deepEqual([run.target, run.repository], ["to-***", "host/***"]);
  });

  it("returns the accepted run, starts it and closes it with the conclusion", async () => {
    const { intake, runs } = createGate((_work, reporter) => {
      reporter.describe({ repository: "example.org/acme/shop", revision: "main (1)" });
      reporter.target({ context: "default", stack: "shop", status: "succeeded" });
      return Promise.resolve();
    });
    const { run, finished } = intake.submit(work);
    assert.deepEqual([run.status, run.target, run.repository], ["accepted", "prod", ""]);
    const end = await finished;
    assert.deepEqual([end.status, end.message], ["succeeded", "1 targets"]);
    assert.deepEqual([end.repository, end.revision], ["example.org/acme/shop", "main (1)"]);
    assert.deepEqual(runs.get(run.id), end);
  });

  it("is running as soon as the work has begun", async () => {
    const { execute, release } = heldWork();
    const { intake, runs } = createGate(execute);
    const { run, finished } = intake.submit(work);
    await settle();
    assert.equal(runs.get(run.id)?.status, "running");
    release();
    await finished;
  });

  it("calls work of several sources `multiple`, without a target", () => {
    const { intake } = createGate(() => Promise.resolve());
    const { run } = intake.submit({ ...work, sources: [source, source] });
    assert.deepEqual([run.repository, run.target], ["multiple", ""]);
  });

  it("cancels the work when its signal aborts, and says so", async () => {
    const { execute, aborts } = heldWork();
    const { intake } = createGate(execute);
    const client = new AbortController();
    const { finished } = intake.submit(work, { signal: client.signal });
    await settle();
    client.abort();
    const end = await finished;
    assert.deepEqual([end.status, end.message], ["failed", CANCELLED_BY_CLIENT]);
    assert.equal((aborts[0] as StackwrightError).code, "cancelled");
  });

  it("goes on without its client once it does what another run was to do", async () => {
    const free = Promise.withResolvers<void>();
    const { intake } = createGate(async (_work, { takesOver }, within) => {
      takesOver?.();
      await abortable(free.promise, within);
    });
    const client = new AbortController();
    const { finished } = intake.submit(work, { signal: client.signal });
    await settle();
    client.abort();
    free.resolve();
    assert.equal((await finished).status, "succeeded");
  });

  it("does not begin work whose client is gone already", async () => {
    let begun = false;
    const { intake } = createGate(() => {
      begun = true;
      return Promise.resolve();
    });
    const end = await intake.submit(work, { signal: AbortSignal.abort() }).finished;
    assert.deepEqual([begun, end.status, end.message], [false, "failed", CANCELLED_BY_CLIENT]);
  });

  it("lets work that succeeded in spite of an abort be succeeded", async () => {
    const { execute, release } = heldWork({ deaf: true });
    const { intake } = createGate(execute);
    const client = new AbortController();
    const { finished } = intake.submit(work, { signal: client.signal });
    await settle();
    client.abort();
    release();
    assert.equal((await finished).status, "succeeded");
  });
});

/** Work of which each piece ends when told; `begun` has the references in the order they began. */
function steppedWork() {
  const begun: string[] = [];
  const steps: PromiseWithResolvers<void>[] = [];
  const execute: Execute = ({ sources }, _reporter, signal) => {
    const step = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => step.reject(signal.reason));
    begun.push(sources[0]?.reference ?? "");
    steps.push(step);
    return step.promise;
  };
  /** Ends the piece that began as the `index`th. */
  const end = async (index: number) => {
    steps[index]?.resolve();
    await settle();
  };
  return { execute, begun, end };
}

const about = (reference: string): Sync => ({ ...work, sources: [{ ...source, reference }] });

describe("Intake.submit() in a lane", () => {
  it("runs one, lets one wait, and gives everybody else the run that waits", async () => {
    const { execute, begun, end } = steppedWork();
    const { intake, runs } = createGate(execute);
    const burst = ["1", "2", "3", "4"].map((each) => intake.submit(about(each), { lane: "a" }));
    await settle();
    assert.deepEqual(burst.map(({ run }) => run.id), ["run-1", "run-2", "run-2", "run-2"]);
    assert.deepEqual(runs.list({ limit: 9 }).map(({ status }) => status), ["accepted", "running"]);
    assert.deepEqual(begun, ["1"]);
    await end(0);
    assert.deepEqual(begun, ["1", "4"], "of what was asked for, the newest counts");
    const late = intake.submit(about("5"), { lane: "a" });
    assert.equal(late.run.id, "run-3", "a run that has begun is not joined");
    await end(1);
    await end(2);
    const ends = await Promise.all([...burst, late].map(({ finished }) => finished));
    assert.deepEqual(ends.map(({ id }) => id), ["run-1", "run-2", "run-2", "run-2", "run-3"]);
    assert.ok(ends.every(({ status }) => status === "succeeded"));
  });

  it("lets the next one run when one gives way, and says so", async () => {
    const { execute, begun, end } = steppedWork();
    const ways: ((() => void) | undefined)[] = [];
    const { intake } = createGate((work, reporter, signal) => {
      ways.push(reporter.givesWay?.bind(reporter));
      return execute(work, reporter, signal);
    });
    const [first, second] = ["1", "2"].map((each) => intake.submit(about(each), { lane: "a" }));
    let gaveWay = false;
    first?.gaveWay.then(() => gaveWay = true);
    await settle();
    assert.deepEqual([begun, gaveWay], [["1"], false]);
    ways[0]?.();
    await settle();
    assert.deepEqual([begun, gaveWay], [["1", "2"], true]);
    const third = intake.submit(about("3"), { lane: "a" });
    await end(0);
    assert.deepEqual(begun, ["1", "2"], "that one has the lane now");
    await end(1);
    await end(2);
    await Promise.all([first, second, third].map((each) => each?.gaveWay));
    assert.deepEqual(begun, ["1", "2", "3"]);
  });

  it("lets the next one run when one fails", async () => {
    let calls = 0;
    const { intake } = createGate(() =>
      ++calls === 1
        ? Promise.reject(new StackwrightError("deploy_failed", "no"))
        : Promise.resolve()
    );
    const [first, second] = [1, 2].map(() => intake.submit(work, { lane: "a" }));
    assert.equal((await first?.finished)?.status, "failed");
    assert.equal((await second?.finished)?.status, "succeeded");
    assert.equal((await intake.submit(work, { lane: "a" }).finished).id, "run-3");
  });

  it("leaves other lanes, and work without one, alone", async () => {
    const { execute, begun } = steppedWork();
    const { intake } = createGate(execute);
    intake.submit(about("1"), { lane: "a" });
    intake.submit(about("2"), { lane: "b" });
    intake.submit(about("3"));
    intake.submit(about("4"));
    await settle();
    assert.deepEqual(begun.toSorted(), ["1", "2", "3", "4"]);
  });

  it("knows the repository before the work has begun, redacted", () => {
    const { intake } = createGate(() => Promise.resolve());
    const { run } = intake.submit(work, { lane: "a", repository: `h/${SECRET}/x` });
    assert.equal(run.repository, "h/***/x");
  });

  it("ends at once what waits when its client goes, and lets nobody join that", async () => {
    const { execute, begun, end } = steppedWork();
    const { intake, runs } = createGate(execute);
    intake.submit(about("1"), { lane: "a" });
    const client = new AbortController();
    const left = intake.submit(about("2"), { lane: "a", signal: client.signal });
    await settle();
    client.abort();
    const next = intake.submit(about("3"), { lane: "a" });
    assert.equal(next.run.id, "run-3");
    assert.equal((await left.finished).message, CANCELLED_BY_CLIENT);
    assert.equal(runs.get("run-1")?.status, "running");
    const gone = intake.submit(about("4"), { lane: "b", signal: AbortSignal.abort() });
    assert.equal((await gone.finished).message, CANCELLED_BY_CLIENT);
    await end(0);
    assert.deepEqual(begun, ["1", "3"]);
    await end(1);
    assert.equal((await next.finished).status, "succeeded");
  });

  it("cancels nothing that another one has joined, before its turn or after", async () => {
    const { execute, begun, end } = steppedWork();
    const { intake } = createGate(execute);
    intake.submit(about("1"), { lane: "a" });
    const client = new AbortController();
    intake.submit(about("2"), { lane: "a", signal: client.signal });
    const joined = intake.submit(about("3"), { lane: "a" });
    assert.equal(joined.run.id, "run-2");
    client.abort();
    await settle();
    await end(0);
    assert.deepEqual(begun, ["1", "3"]);
    await end(1);
    assert.equal((await joined.finished).status, "succeeded");
  });

  it("begins nothing that waited when the grace period of a shutdown ends", async () => {
    const { execute, begun } = steppedWork();
    const { intake, clock } = createGate(execute);
    const [first, second] = [1, 2].map(() => intake.submit(work, { lane: "a" }));
    await settle();
    const closing = intake.close();
    assert.throws(() => intake.submit(work, { lane: "a" }), { code: "shutting_down" });
    await clock.advance(10_000);
    await closing;
    for (const admission of [first, second]) {
      assert.equal((await admission?.finished)?.message, CANCELLED_BY_SHUTDOWN);
    }
    assert.equal(begun.length, 1);
  });
});

describe("Intake.arrive()", () => {
  it("refuses webhooks of a repository of which too many wait, and says so once", async () => {
    const { execute, end } = steppedWork();
    const { intake, log } = createGate(execute);
    const submit = (repository: string, each: number) => {
      intake.arrive(repository);
      return intake.submit(about(`${each}`), { repository, lane: `${repository} ${each}` });
    };
    for (let n = 0; n < MOST_OF_REPOSITORY; n++) submit("h/o/busy", n);
    for (let n = 0; n < 3; n++) assert.throws(() => submit("h/o/busy", n), { code: "overloaded" });
    const told = () => log.lines.filter(({ message }) => message.includes("refused"));
    assert.deepEqual(told().map(({ level, fields }) => [level, fields["repository"]]), [
      ["warning", "h/o/busy"],
    ]);
    submit("h/o/other", 0);
    await settle();
    await end(0);
    await end(1);
    submit("h/o/busy", MOST_OF_REPOSITORY + 1);
    submit("h/o/busy", MOST_OF_REPOSITORY);
    assert.throws(() => submit("h/o/busy", 0), { code: "overloaded" });
    const poll = { ...about("main"), trigger: "poll" } as const;
    const again = { repository: "h/o/busy" };
    assert.equal(intake.submit(poll, again).run.status, "accepted", "polls are not affected");
    assert.equal(intake.submit(about("x"), again).run.status, "accepted", "nor retries");
    assert.equal(told().length, 1, "it was full all the time");
    for (let n = 2; n < MOST_OF_REPOSITORY + 5; n++) await end(n);
    for (let n = 0; n < MOST_OF_REPOSITORY; n++) submit("h/o/busy", n);
    assert.throws(() => submit("h/o/busy", 0), { code: "overloaded" });
    assert.equal(told().length, 2);
  });
});

describe("Intake.skip()", () => {
  it("opens a run that is over, redacted", () => {
    const { intake, runs } = createGate(() => Promise.reject(new Error("nothing is executed")));
    const facts = { trigger: "webhook", repository: `a/${SECRET}`, target: "edge" } as const;
    const run = intake.skip({ ...facts, message: `ping ${SECRET}` });
    assert.deepEqual(
      [run.status, run.repository, run.target, run.message],
      ["skipped", "a/***", "edge", "ping ***"],
    );
    assert.deepEqual(runs.get(run.id), run);
  });

  it("opens none once closing has begun", async () => {
    const { intake, runs } = createGate(() => Promise.resolve());
    await intake.close();
    assert.throws(() => intake.skip({ trigger: "webhook", message: "" }), {
      code: "shutting_down",
    });
    assert.equal(runs.list({ limit: 1 }).length, 0);
  });
});

describe("Intake.close()", () => {
  it("lets nothing more in, at once", async () => {
    const { execute, release } = heldWork();
    const { intake, runs } = createGate(execute);
    intake.submit(work);
    const closing = intake.close();
    assert.equal(intake.open, false);
    assert.throws(() => intake.submit(work), { code: "shutting_down" });
    assert.equal(runs.list({ limit: 9 }).length, 1);
    release();
    await closing;
  });

  it("ends at once when nothing is active, and may be called twice", async () => {
    const { intake, clock } = createGate(() => Promise.resolve());
    await Promise.all([intake.close(), intake.close()]);
    assert.equal(clock.sleepers, 0);
  });

  it("waits for active runs that end within the grace period", async () => {
    const { execute, release, aborts } = heldWork();
    const { intake, clock } = createGate(execute);
    const { finished } = intake.submit({ ...work, trigger: "poll" });
    const closing = intake.close();
    await clock.advance(9_999);
    release();
    await closing;
    assert.equal((await finished).status, "succeeded");
    assert.deepEqual([aborts, clock.sleepers], [[], 0]);
  });

  it("waits for changes that are no runs, aborts them after the grace period, and begins no more", async () => {
    const { intake, clock } = createGate(() => Promise.resolve());
    const change = (milliseconds: number) =>
      intake.change((signal) => clock.sleep(milliseconds, signal)).then(() => "done", messageOf);
    const ends = [change(9_999), change(60_000)];
    let isClosed = false;
    const closing = intake.close().then(() => isClosed = true);
    assert.equal(await change(1), "application is shutting down");
    await clock.advance(9_999);
    assert.equal(isClosed, false);
    await clock.advance(1);
    await closing;
    assert.deepEqual(await Promise.all(ends), ["done", CANCELLED_BY_SHUTDOWN]);
  });

  it("aborts what is left after the grace period and marks it failed", async () => {
    const { execute, aborts } = heldWork();
    const { intake, clock } = createGate((work, reporter, signal) => {
      reporter.target({ context: "default", stack: "shop", status: "running" });
      return execute(work, reporter, signal);
    });
    const { finished } = intake.submit(work);
    const closing = intake.close();
    await clock.advance(9_999);
    assert.equal(aborts.length, 0);
    await clock.advance(1);
    await closing;
    const end = await finished;
    assert.deepEqual([end.status, end.message], ["failed", CANCELLED_BY_SHUTDOWN]);
  });

  it("forgets no run while its work still reports, however many are aborted", async () => {
    const reporting: Promise<void>[] = [];
    const { intake, clock, log, runs } = createGate((_work, reporter, signal) => {
      const aborted = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => aborted.resolve());
      const work = aborted.promise.then(() => reporter.describe({ message: "put down" }));
      reporting.push(work);
      return work;
    });
    const submitted = Array.from({ length: RUNS_PER_TRIGGER + 5 }, () => intake.submit(work));
    const closing = intake.close();
    await clock.advance(10_000);
    await closing;
    const ends = await Promise.all(submitted.map(({ finished }) => finished));
    assert.equal((await Promise.allSettled(reporting)).filter(isRejected).length, 0);
    assert.deepEqual([...new Set(ends.map(({ message }) => message))], [CANCELLED_BY_SHUTDOWN]);
    assert.doesNotMatch(JSON.stringify(log.lines), /BUG/);
    assert.equal(runs.list({ limit: 1000 }).length, RUNS_PER_TRIGGER);
  });

  it("fails what webhooks wait for after half of it, and begins none of that meanwhile", async () => {
    const { execute, begun } = steppedWork();
    const { intake, clock } = createGate(execute);
    const poll = intake.submit({ ...about("poll"), trigger: "poll" });
    const lane = ["1", "2"].map((each) => intake.submit(about(each), { lane: "a" }));
    const closing = intake.close();
    await clock.advance(5_000);
    for (const { finished } of lane) {
      assert.equal((await finished).message, CANCELLED_BY_SHUTDOWN);
    }
    assert.deepEqual(begun.toSorted(), ["1", "poll"]);
    await clock.advance(5_000);
    await closing;
    assert.equal((await poll.finished).message, CANCELLED_BY_SHUTDOWN);
  });

  it("fails thousands of runs that wait, in few transactions and one line of the log", async () => {
    const database = new LedgerDatabase(":memory:");
    const archive = new RunArchive(database);
    let transactions = 0;
    const kept: KeptRuns = {
      all: () => archive.all(),
      news: () => [],
      keep(runs) {
        transactions++;
        archive.keep(runs);
      },
    };
    const turns = createKeyedLock(8);
    const { intake, clock, log } = createGate(
      (_work, _reporter, signal) => turns.run("", () => abortable(NEVER, signal), signal),
      kept,
    );
    const submitted = Array.from(
      { length: 4_000 },
      (_, index) => intake.submit(about(`${index}`), { repository: `h/o/r${index % 20}` }),
    );
    let closing: Promise<void> | undefined;
    const longest = await longestStretch(async () => {
      closing = intake.close();
      await clock.advance(5_000);
      await closing;
    });
    assert.ok(longest < 1_000, `${longest} ms in one turn`);
    const ends = await Promise.all(submitted.map(({ finished }) => finished));
    assert.deepEqual([...new Set(ends.map(({ message }) => message))], [CANCELLED_BY_SHUTDOWN]);
    assert.ok(transactions <= 20, `${transactions} transactions`);
    assert.deepEqual(log.lines.filter(({ level }) => level === "error").map((l) => l.message), [
      `4000 runs failed before they came to a stack: ${CANCELLED_BY_SHUTDOWN}`,
    ]);
    const told = createRuns({ clock, kept }).list({ limit: 200 });
    assert.equal(told.length, RUNS_PER_TRIGGER);
    assert.deepEqual([...new Set(told.map(({ message }) => message))], [CANCELLED_BY_SHUTDOWN]);
    database.close();
  });

  it("does not wait for ever for work that ignores its signal", async () => {
    const { execute, release } = heldWork({ deaf: true });
    const { intake, clock, runs } = createGate(execute);
    const { run, finished } = intake.submit(work);
    const closing = intake.close();
    await clock.advance(10_000);
    assert.equal(runs.get(run.id)?.message, CANCELLED_BY_SHUTDOWN);
    await clock.advance(2_000);
    await closing;
    release();
    assert.equal((await finished).status, "failed");
  });
});
