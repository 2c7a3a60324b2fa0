import assert from "node:assert/strict";
import { it } from "node:test";
import type { PollEntry, SyncWindow } from "../../../src/config/mod.ts";
import { type SourceRequest, stackKey, type Sync } from "../../../src/model/mod.ts";
import { createSyncWindows } from "../../../src/plan/mod.ts";
import { OpeningAlarm, runPolls } from "../../../src/trigger/mod.ts";
import { heapAfterCollection } from "../../fakes/heap.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2026-01-01T00:00:00Z");
const END = Date.parse("2027-01-01T00:00:00Z");
/** What a runtime warms up in half a year, and the times that this test notes; a leak has some in each of 700 polls. */
const MOST_GROWTH = 512 * 1024;
const ZONE = "Europe/Berlin";
/** In 2026 the clocks of Berlin are two hours ahead between these instants, and one hour else. */
const [SUMMER, WINTER] = [Date.parse("2026-03-29T01:00Z"), Date.parse("2026-10-25T01:00Z")];

/** What the clocks of Berlin show, as the fields of a date in UTC. */
function shown(instant: number): Date {
  return new Date(instant + (instant >= SUMMER && instant < WINTER ? 2 : 1) * HOUR);
}

/** Every full minute from `from` on at which the clocks of Berlin show what `is` says. */
function minutes(is: (time: Date) => boolean, from = START): number[] {
  const found: number[] = [];
  for (let at = from; at < END; at += MINUTE) if (is(shown(at))) found.push(at);
  return found;
}

const at = (hour: number, minute: number) => (time: Date) =>
  time.getUTCHours() === hour && time.getUTCMinutes() === minute;
const isFriday = (time: Date) => time.getUTCDay() === 5;
const isYearEnd = (time: Date) => time.getUTCMonth() === 11 && time.getUTCDate() === 20;

/** Start and end of every time at which nothing may be deployed. */
function closedTimes(): (readonly [start: number, end: number])[] {
  const before = START - 20 * DAY;
  const weekends = minutes((time) => isFriday(time) && at(18, 0)(time), before);
  const years = minutes((time) => isYearEnd(time) && at(0, 0)(time), before);
  return [
    ...weekends.map((start) => [start, start + 62 * HOUR] as const),
    ...years.map((start) => [start, start + 15 * DAY] as const),
  ];
}

function request(name: string): SourceRequest {
  const url = `https://example.org/${name}`;
  return { kind: "git", url, reference: "main", target: "", deployments: [] };
}

function deny(name: string, schedule: string, hours: number): SyncWindow {
  const globs = { repositories: [], deployments: [], contexts: [] };
  const when = { schedule, timeZone: ZONE, durationSeconds: hours * 3600 };
  return { name, kind: "deny", manualSync: false, ...when, ...globs };
}

/** Polls and sync windows on one clock; a run does nothing but ask whether it may deploy. */
function createHouse() {
  const clock = createFakeClock(new Date(START).toISOString());
  const stop = new AbortController();
  const { deferred } = createMemoryLedger(clock);
  const log = createRecordingLog();
  const windows = createSyncWindows([
    deny("weekends", "0 18 * * 5", 62),
    deny("the end of the year", "0 0 20 12 *", 15 * 24),
  ]);
  const seen = {
    polls: new Map<string, number[]>(),
    deployed: [] as number[],
    opened: [] as number[],
  };
  const perform = (work: Sync) => {
    const [source] = work.sources as [SourceRequest];
    const key = stackKey("", source.url);
    const now = clock.now();
    const subject = { repositories: [""], deployment: key.name, context: "", origin: work.origin };
    const { allowed, nextOpen } = windows.decide(subject, now);
    if (allowed) {
      seen.deployed.push(now.getTime());
      deferred.remove(key);
    } else {
      assert.ok(nextOpen);
      const asker = { source: source.url, reference: "" };
      const waiting = { trigger: work.trigger, request: source, asker };
      deferred.set(key, { ...waiting, retryAt: nextOpen });
    }
    opening.note();
  };
  const opening = new OpeningAlarm({
    deferred,
    submit: (work) => {
      seen.opened.push(clock.now().getTime());
      perform(work);
    },
    clock,
    log,
  }, stop.signal);
  const submit = (work: Sync) => {
    const name = work.sources[0]?.url.slice("https://example.org/".length) ?? "";
    seen.polls.set(name, [...seen.polls.get(name) ?? [], clock.now().getTime()]);
    perform(work);
    const finished = clock.sleep(10_000, stop.signal);
    return { finished, gaveWay: finished };
  };
  const parts = { submit, clock, log, timeZone: ZONE, random: () => 0 };
  return { clock, log, stop, deferred, seen, parts, listeners: countListeners(stop.signal) };
}

/** Counts who listens to a signal from now on. */
function countListeners(signal: AbortSignal): () => number {
  const listening = new Set<unknown>();
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (type: string, listener: EventListener, options?: object) => {
    listening.add(listener);
    add.call(signal, type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    listening.delete(listener);
    remove.call(signal, type, listener);
  };
  return () => listening.size;
}

it("polls and sync windows keep their times for a year, and nothing piles up", async () => {
  const { clock, log, stop, deferred, seen, parts, listeners } = createHouse();
  const rhythms = { nightly: { schedule: "30 2,6 * * *" }, slowly: { intervalSeconds: 12 * 3600 } };
  const entries = Object.entries(rhythms).map(([name, rhythm]): PollEntry => ({
    ...{ request: request(name), intervalSeconds: 0, runOnce: false, watch: true },
    ...rhythm,
  }));
  const polls = runPolls(entries, parts, stop.signal);
  const closed = closedTimes();
  const isClosed = (instant: number) =>
    closed.some(([start, end]) => start <= instant && instant < end);
  const left = new Set<string>();
  const used: number[] = [];
  for (let week = 1; week <= 52; week++) {
    await clock.advance(7 * DAY);
    if (week === 12 || week === 38) {
      log.clear();
      used.push(await heapAfterCollection());
    }
    if (isClosed(clock.now().getTime())) continue;
    left.add(`${clock.sleepers} asleep, ${deferred.all().length} deferred, ${listeners()} listen`);
  }
  const [early = 0, late = 0] = used;
  assert.ok(
    late - early < MOST_GROWTH,
    `${late - early} bytes more in use after half a year`,
  );
  await clock.advance(END - 1 - clock.now().getTime());
  assert.deepEqual([...left], ["2 asleep, 0 deferred, 2 listen"], "the same in every week");
  const expected = {
    nightly: minutes((time) => at(2, 30)(time) || at(6, 30)(time)),
    slowly: Array.from({ length: 730 }, (_, index) => START + index * (12 * HOUR + 10_000)),
  };
  // 02:30 is skipped once in spring and comes twice in autumn.
  assert.equal(expected.nightly.length, 730);
  for (const [name, times] of Object.entries(expected)) {
    assert.deepEqual(seen.polls.get(name), times.filter((each) => each < END), name);
  }

  const opens = closed.map(([, end]) => end)
    .filter((end) => end > START && end < END && !isClosed(end));
  assert.equal(opens.length, 50, "52 weekends, without those at the end of the year");
  assert.deepEqual(seen.opened, inOrder([...opens, ...opens]), "once for each source");
  const asked = [...seen.polls.values()].flat().filter((each) => !isClosed(each));
  assert.deepEqual(inOrder(seen.deployed), inOrder([...asked, ...opens, ...opens]));
  stop.abort();
  await polls;
  assert.equal(clock.sleepers, 0);
});

function inOrder(instants: readonly number[]): number[] {
  return instants.toSorted((one, other) => one - other);
}
