import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJobLabels } from "../../../src/config/mod.ts";
import type { ContainerEvent } from "../../../src/docker/mod.ts";
import { type RunJob, stackKey } from "../../../src/model/mod.ts";
import { noMeter } from "../../../src/system/mod.ts";
import {
  type IntervalStart,
  JobScheduler,
  type ScheduledJob,
  SharedEvents,
} from "../../../src/trigger/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { longestStretch } from "../processor_time.ts";

const DAY = 24 * 60 * 60 * 1000;

function job(name: string, schedule: string, more: Record<string, string> = {}): ScheduledJob {
  const labels = { enabled: "true", schedule, ...more };
  const own = { project: "shop", service: name };
  const all = Object.entries(labels).map(([key, value]) => [`stackwright.job.${key}`, value]);
  const spec = readJobLabels(Object.fromEntries(all), own);
  assert.ok(spec);
  const key = stackKey("", "shop");
  const what = { service: name, name: `shop-${name}-1`, mode: "container", source: "" } as const;
  return { key, ...what, id: "id", isRunning: false, spec, executions: [] };
}

function setUp(
  jobs: ScheduledJob[],
  start = "2026-01-01T00:00:00Z",
  isAway = () => false,
  mode: "run" | "adopt" = "run",
  onSubmit: (work: RunJob) => void = () => {},
  mostRuns?: number,
  whyLeft: () => string | undefined = () => undefined,
  startOf: (job: ScheduledJob) => IntervalStart = () => ({}),
  left: () => string | undefined = () => undefined,
) {
  const clock = createFakeClock(start);
  const stop = new AbortController();
  const started: string[] = [];
  const log = createRecordingLog();
  let count = BigInt(clock.now().getTime()) * 1_000_000n;
  let events = Promise.withResolvers<void>();
  const scheduler = new JobScheduler({
    find: () => isAway() ? Promise.reject(new Error("nobody answers")) : Promise.resolve(jobs),
    events: new SharedEvents({
      async *events(_since, signal): AsyncIterable<ContainerEvent> {
        if (isAway()) throw new Error("no stream");
        while (!signal.aborted) {
          await Promise.race([
            events.promise,
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            }),
          ]);
          const attributes = { "stackwright.job.enabled": "true" };
          yield { action: "create", detail: "", containerId: "1", attributes, time: ++count };
        }
      },
      clock,
      log,
      random: () => 1,
    }, stop.signal),
    whyLeft,
    left,
    submit(work: RunJob) {
      const { service, adopts } = work;
      started.push(adopts === undefined ? service : `${service} ${adopts}`);
      onSubmit(work);
    },
    clock,
    log,
    meter: noMeter,
    timeZone: "Europe/Berlin",
    intervals: () => startOf,
    ...(mostRuns === undefined ? {} : { mostRuns }),
  }, stop.signal);
  const running = scheduler[mode]();
  return {
    clock,
    scheduler,
    started,
    log,
    jobs,
    changed() {
      const before = events;
      events = Promise.withResolvers<void>();
      before.resolve();
    },
    async end() {
      stop.abort();
      await running;
    },
  };
}

function setUpLeft(jobs: ScheduledJob[], left: () => string | undefined) {
  const nothing = undefined;
  return setUp(jobs, nothing, nothing, nothing, nothing, nothing, nothing, nothing, left);
}

describe("the scheduler of jobs", () => {
  it("starts each job at its times over a year, with one timer for all of them", async () => {
    const { clock, started, end } = setUp([
      job("daily", "0 3 * * *"),
      job("night", "30 2 * * *"),
      job("weekly", "@weekly"),
      job("leap", "0 0 29 2 *"),
      job("never", "0 0 30 2 *"),
    ]);
    await clock.advance(0);
    assert.equal(clock.sleepers, 1);
    await clock.advance(365 * DAY - 1);
    const counts = Object.fromEntries(
      ["daily", "night", "weekly", "leap", "never"].map((name) => [
        name,
        started.filter((each) => each === name).length,
      ]),
    );
    // 02:30 is skipped once in spring and comes twice in autumn; 2026 has 52 Sundays.
    assert.deepEqual(counts, { daily: 365, night: 365, weekly: 52, leap: 0, never: 0 });
    assert.equal(clock.sleepers, 1);
    await end();
    assert.equal(clock.sleepers, 0);
  });

  it("follows what comes and goes, and keeps the next time of what stays", async () => {
    const jobs = [job("a", "@every 1h")];
    const { clock, scheduler, started, changed, end } = setUp(jobs);
    await clock.advance(30 * 60_000);
    const { nextRunAt } = scheduler.timesOf(job("a", "@daily"));
    jobs.push(job("b", "@every 10m"));
    changed();
    await clock.advance(1000);
    assert.deepEqual(scheduler.timesOf(job("a", "@daily")).nextRunAt, nextRunAt);
    await clock.advance(10 * 60_000);
    assert.deepEqual(started, ["b"]);
    jobs.splice(0, 2, job("b", "@every 2h"));
    changed();
    await clock.advance(110 * 60_000);
    assert.deepEqual(started, ["b"]);
    await end();
  });

  it("plans anew when the clock is set back, and by elapsed time when it is set on", async () => {
    const { clock, scheduler, started, end } = setUp([
      job("daily", "0 3 * * *"),
      job("often", "*/30 * * * *"),
    ], "2030-06-01T12:10:00Z");
    await clock.advance(0);
    clock.set(-4 * 365 * DAY);
    await clock.advance(20 * 60_000);
    assert.equal(scheduler.timesOf(job("daily", "@daily")).nextRunAt?.getUTCFullYear(), 2026);
    await clock.advance(DAY);
    assert.equal(started.filter((each) => each === "daily").length, 1);
    assert.equal(started.filter((each) => each === "often").length, 49);
    clock.set(30 * DAY);
    await clock.advance(10 * 60_000);
    assert.equal(started.filter((each) => each === "daily").length, 2);
    await end();
  });

  it("runs a job that is refused more and more rarely, says so, and again when it is not", async () => {
    let isRefused = true;
    const refused = job("refused", "@every 1s");
    const onSubmit = () => scheduler.noteEnd(refused, isRefused);
    const setting = setUp([refused], ...[undefined, undefined, undefined], onSubmit);
    const { clock, started, log, scheduler, end } = setting;
    await clock.advance(DAY);
    assert.ok(started.length < 300, String(started.length));
    assert.ok(started.length > 280, String(started.length));
    const said = log.lines.filter(({ message }) => /job was refused, so/.test(message));
    assert.ok(said.length > 0 && said.length <= started.length);
    isRefused = false;
    started.length = 0;
    await clock.advance(10 * 60_000);
    assert.ok(started.length >= 298, String(started.length));
    await end();
  });

  it("unschedules a job that was refused and is nobody's any more, of which no event tells", async () => {
    const [orphan, other] = [job("orphan", "0 * * * *"), job("other", "0 * * * *")];
    const jobs = [orphan, other];
    const onSubmit = ({ service }: RunJob) => {
      if (service === "orphan") setting.scheduler.noteEnd(orphan, true);
    };
    const setting = setUp(jobs, undefined, undefined, undefined, onSubmit);
    const { clock, started, log, end } = setting;
    await clock.advance(0);
    jobs.splice(0, 1);
    await clock.advance(2 * 60 * 60_000);
    assert.deepEqual(started, ["orphan", "other", "other"]);
    assert.match(JSON.stringify(log.lines), /job unscheduled/);
    await end();
  });

  it("leaves out what is not its owner's, says so once, and runs it as soon as it is", async () => {
    let why: string | undefined = "shop was handed over";
    const jobs = [job("backup", "0 * * * *")];
    const none = [undefined, undefined, undefined, undefined, undefined] as const;
    const { clock, started, log, end } = setUp(jobs, ...none, () => why);
    await clock.advance(DAY);
    const said = () =>
      log.lines.filter(({ message }) => /is not run: shop was handed/.test(message));
    assert.deepEqual([started, said().length], [[], 1]);
    why = undefined;
    await clock.advance(60 * 60_000);
    assert.deepEqual(started, ["backup"]);
    why = "shop was handed over";
    await clock.advance(DAY);
    assert.deepEqual([started, said().length], [["backup"], 2]);
    await end();
  });

  it("leaves out a firing while the last run is under way, where that is wanted", async () => {
    const { clock, scheduler, started, log, end } = setUp([
      job("careful", "0 * * * *", { skip_running: "true" }),
      job("other", "0 * * * *"),
    ]);
    await clock.advance(0);
    const done = scheduler.begin(job("careful", "@daily"));
    await clock.advance(60 * 60_000);
    assert.deepEqual(started, ["other"]);
    assert.match(JSON.stringify(log.lines), /left out/);
    done();
    await clock.advance(60 * 60_000);
    assert.deepEqual(started, ["other", "careful", "other"]);
    await end();
  });

  it("lets others work while hundreds of jobs that run are left out", async () => {
    const more = { skip_running: "true" };
    const jobs = Array.from({ length: 500 }, (_, at) => ({
      ...job(`j${at}`, "0 0 * 2 0#5", more),
      isRunning: true,
    }));
    // A leap day that is a Sunday: the next one is 28 years away.
    const { clock, started, log, end } = setUp(jobs, "2032-02-28T22:59:59Z");
    const until = async (count: number) => {
      while (log.lines.length < count || clock.sleepers !== 1) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await until(jobs.length);
    const longest = await longestStretch(async () => {
      await clock.advance(1000);
      await until(2 * jobs.length);
    });
    assert.deepEqual(started, []);
    assert.ok(longest < 300, `${longest} ms`);
    await end();
  });

  it("starts as many runs as it may, with pauses, and others when these have ended", async () => {
    const jobs = Array.from(
      { length: 250 },
      (_, at) => ({ ...job(`j${at}`, "@every 1h"), source: `s${at % 10}` }),
    );
    let [most, inTurn] = [0, 0];
    const ends: (() => void)[] = [];
    const onSubmit = (work: RunJob) => {
      most = Math.max(most, ++inTurn);
      setTimeout(() => inTurn = 0, 0);
      ends.push(scheduler.begin(work));
    };
    const { clock, started, scheduler, log, end } = setUp(
      jobs,
      ...[undefined, undefined, undefined],
      onSubmit,
      100,
    );
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(() => log.lines.length === jobs.length && clock.sleepers === 1);
    await clock.advance(60 * 60_000);
    await until(() => log.lines.length > jobs.length);
    assert.match(log.lines.at(-1)?.message ?? "", /^jobs that are due wait: 100 runs/);
    await clock.advance(5_000);
    assert.equal(started.length, 100);
    assert.ok(most < 50, String(most));
    while (ends.length > 0) {
      for (const done of ends.splice(0)) done();
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(new Set(started).size, 250);
    await end();
  });

  it("starts a job although hundreds of others never end, where no bound is wanted", async () => {
    const endless = Array.from({ length: 150 }, (_, at) => job(`j${at}`, "@every 1h"));
    const setting = setUp([...endless, job("mine", "@every 2h")]);
    const { clock, started, scheduler, end } = setting;
    await clock.advance(0);
    for (const each of endless) scheduler.begin(each);
    await clock.advance(2 * 60 * 60_000);
    while (!started.includes("mine")) await new Promise((resolve) => setTimeout(resolve, 5));
    await end();
  });

  it("leaves places to other sources, and starts what had to wait as soon as there is one", async () => {
    const mass = Array.from({ length: 5 }, (_, at) => ({
      ...job(`m${at}`, "@every 1h"),
      source: "mass",
    }));
    const ends: (() => void)[] = [];
    const onSubmit = (work: RunJob) => void ends.push(scheduler.begin(work));
    const { clock, started, log, scheduler, end } = setUp(
      [...mass, { ...job("mine", "@every 1h"), source: "mine" }],
      ...[undefined, undefined, undefined],
      onSubmit,
      8,
    );
    const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(0);
    await clock.advance(60 * 60_000);
    while (!started.includes("mine")) await settle();
    assert.deepEqual(started, ["m0", "m1", "mine"]);
    for (let at = 0; at < 3; at++) await clock.advance(1_000).then(settle);
    assert.equal(started.length, 3);
    assert.equal(log.lines.filter(({ message }) => /of their repository/.test(message)).length, 1);
    for (const done of ends.splice(0)) done();
    await clock.advance(1_000).then(settle);
    assert.deepEqual(started.slice(3), ["m2", "m3"]);
    for (const done of ends.splice(0)) done();
    await clock.advance(1_000).then(settle);
    assert.deepEqual(started.slice(5), ["m4"]);
    await end();
  });

  it("schedules while runs of an earlier process wait until they may be taken over", async () => {
    const old = Array.from({ length: 5 }, (_, at) => ({
      ...job(`old${at}`, "@every 9h"),
      executions: ["4711"],
    }));
    const ends: (() => void)[] = [];
    const onSubmit = (work: RunJob) => void ends.push(scheduler.begin(work));
    const { clock, started, scheduler, end } = setUp(
      old,
      ...[undefined, undefined, undefined],
      onSubmit,
      2,
    );
    await clock.advance(0);
    assert.deepEqual(started, ["old0 4711", "old1 4711"]);
    assert.notEqual(scheduler.timesOf(old[0] ?? assert.fail()).nextRunAt, undefined);
    while (started.length < 5) {
      for (const done of ends.splice(0)) done();
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await end();
  });

  it("does not make up for times that passed, and takes over what was begun", async () => {
    const one = { ...job("a", "*/5 * * * *"), executions: ["4711"] };
    const { clock, started, end } = setUp([one], "2026-03-10T12:03:00Z");
    await clock.advance(0);
    assert.deepEqual(started, ["a 4711"]);
    await clock.advance(2 * 60_000);
    assert.deepEqual(started, ["a 4711", "a"]);
    await end();
  });

  for (
    const [what, startOf, more, expected] of [
      ["goes on after the last run", { lastRunAt: -20 }, {}, [40, 100, 160]],
      ["makes up for one that came due meanwhile, once", { lastRunAt: -185 }, {}, [0, 60, 120]],
      ["counts from the deployment until its first run", { deployedAt: -185 }, {}, [55, 115]],
      ["begins where nothing is recorded", {}, {}, [60, 120]],
      ["begins where the clock was set back", { lastRunAt: 20 }, {}, [60, 120]],
      ["doubles no run that is under way", { lastRunAt: -90 }, { isRunning: true }, [30, 90, 150]],
    ] as const
  ) {
    it(`at a start, an interval ${what}`, async () => {
      const now = Date.parse("2026-03-10T12:00:00Z");
      const recorded = Object.fromEntries(
        Object.entries(startOf).map(([name, minutes]) => [name, new Date(now + minutes * 60_000)]),
      );
      const own = { ...job("a", "@every 1h"), ...more };
      const { clock, started, end } = setUp(
        [own],
        "2026-03-10T12:00:00Z",
        ...[undefined, undefined, undefined, undefined, undefined],
        () => recorded,
      );
      const found: number[] = [];
      for (let minute = 0; minute <= 160; minute++) {
        await clock.advance(minute === 0 ? 0 : 60_000);
        found.push(...started.splice(0).map(() => minute));
      }
      assert.deepEqual(found, expected);
      await end();
    });
  }

  it("an interval is not put off by new containers, and does not run because of them", async () => {
    const jobs = [job("a", "@every 1h")];
    const lastRunAt = new Date("2026-03-10T11:30:00Z");
    const { clock, started, changed, end } = setUp(
      jobs,
      "2026-03-10T12:00:00Z",
      ...[undefined, undefined, undefined, undefined, undefined],
      () => ({ lastRunAt }),
    );
    for (let minute = 0; minute < 29; minute++) {
      const [own] = jobs.splice(0);
      changed();
      await clock.advance(30_000);
      jobs.push(own ?? assert.fail());
      changed();
      await clock.advance(30_000);
    }
    assert.deepEqual(started, []);
    await clock.advance(60_000);
    assert.deepEqual(started, ["a"]);
    await end();
  });

  it("takes over what was begun once, also where the engine is away at first", async () => {
    let isAway = true;
    const one = { ...job("a", "@yearly"), executions: ["4711"] };
    const { clock, started, changed, end } = setUp([one], undefined, () => isAway);
    await clock.advance(60_000);
    assert.deepEqual(started, []);
    isAway = false;
    await clock.advance(60_000);
    assert.deepEqual(started, ["a 4711"]);
    changed();
    await clock.advance(60_000);
    assert.deepEqual(started, ["a 4711"]);
    await end();
  });

  it("takes up what was left at the next look, once at a time, and not while the job runs", async () => {
    let isLeft = false;
    const one = job("a", "@yearly");
    const left = () => isLeft ? "4711" : undefined;
    const { clock, scheduler, started, changed, end } = setUpLeft([one], left);
    const look = async () => {
      changed();
      await clock.advance(1000);
    };
    await look();
    const endRun = scheduler.begin(one);
    isLeft = true;
    await look();
    assert.deepEqual(started, []);
    endRun();
    await look();
    await look();
    assert.deepEqual(started, ["a 4711"]);
    scheduler.begin(one)();
    await look();
    assert.deepEqual(started, ["a 4711", "a 4711"]);
    await end();
  });

  it("takes up what was left again and again, though no event tells of it, until nothing is", async () => {
    let isLeft = true;
    const one = job("a", "@yearly");
    const { clock, scheduler, started, end } = setUpLeft([one], () => isLeft ? "4711" : undefined);
    await clock.advance(0);
    // Refused before it began, as where the queue is full.
    assert.deepEqual(started, ["a 4711"]);
    await clock.advance(10_000);
    assert.equal(started.length, 2);
    const endRun = scheduler.begin(one);
    await clock.advance(60_000);
    assert.equal(started.length, 2);
    endRun();
    await clock.advance(60 * 60_000);
    assert.ok(started.length > 10 && started.length < 20, `${started.length}`);
    isLeft = false;
    await clock.advance(300_000);
    const before = started.length;
    await clock.advance(60 * 60_000);
    assert.deepEqual([started.length, clock.sleepers], [before, 1]);
    isLeft = true;
    scheduler.begin(one)();
    await clock.advance(10_000);
    assert.equal(started.length, before + 1);
    await end();
  });

  it("takes over what was begun where nothing is scheduled, and starts nothing else", async () => {
    let isAway = true;
    const one = { ...job("a", "* * * * *"), executions: ["4711"] };
    const { clock, started, end } = setUp([one], undefined, () => isAway, "adopt");
    await clock.advance(60_000);
    isAway = false;
    await clock.advance(DAY);
    assert.deepEqual([started, clock.sleepers], [["a 4711"], 0]);
    await end();
  });

  it("waits for an engine that is away, and ends while it is", async () => {
    let isAway = true;
    const { clock, started, end } = setUp([job("a", "* * * * *")], undefined, () => isAway);
    await clock.advance(90_000);
    assert.deepEqual(started, []);
    isAway = false;
    await clock.advance(60_000);
    assert.deepEqual(started, ["a"]);
    isAway = true;
    await end();
  });

  it("starts nothing of what is disabled or has a mistake", async () => {
    const { spec: _spec, ...broken } = job("broken", "@hourly");
    const { clock, started, end } = setUp([
      { ...broken, problem: "no schedule" },
      { ...job("off", "@hourly"), spec: { ...job("off", "@hourly").spec!, enabled: false } },
    ]);
    await clock.advance(DAY);
    assert.deepEqual(started, []);
    await end();
  });
});
