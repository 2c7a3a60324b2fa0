import assert from "node:assert/strict";
import process from "node:process";
import { it } from "node:test";
import type { SyncWindow } from "../../../src/config/mod.ts";
import { createSyncWindows, type SyncDecision } from "../../../src/plan/mod.ts";

/** Decisions that are compared; more of them under `./scripts/test all`. */
const CASES = Number(process.env["SYNC_WINDOW_CASES"] ?? 300);
const MINUTE = 60_000;
const DAY = 24 * 60;
/** Minutes before and after the day something happens on, and what windows last at most. */
const [BEFORE, AFTER, LONGEST] = [5 * DAY, 7 * DAY, 3 * DAY];
/** Days on which clocks change in both directions, by an hour and by half of one; leap days; others. */
const DAYS = ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04"];
const LEAPS = ["2028-02-29", "2026-02-28", "2026-06-15"];
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kathmandu"];

it(`${CASES} decisions about random windows are those of an oracle that looks at every minute`, () => {
  let state = 20260310;
  const below = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const clocks = createClocks();
  const seen = { blocked: 0, opens: 0, overrides: 0, allowed: 0 };
  for (let done = 0; done < CASES;) {
    const day = pick([...DAYS, ...LEAPS]);
    const first = Date.parse(`${day}T00:00:00Z`) / MINUTE - BEFORE;
    const windows = Array.from(
      { length: 1 + below(4) },
      (_, index) => randomWindow(`w${index}`, { below, pick }),
    );
    const sets = createSyncWindows(windows);
    const active = windows.map((window) => activeMinutes(window, clocks(window.timeZone, first)));
    for (let instant = 0; instant < 4 && done < CASES; instant++, done++) {
      const minute = LONGEST + below(BEFORE + DAY - LONGEST);
      const now = new Date((first + minute) * MINUTE + below(MINUTE));
      const origin = pick(["automatic", "manual"] as const);
      const found = sets.decide({ repositories: [""], deployment: "", context: "", origin }, now);
      const expected = oracle(windows, active, { minute, origin });
      const horizon = new Date((first + BEFORE + AFTER) * MINUTE);
      check(found, expected, { first, horizon, told: JSON.stringify({ windows, now, origin }) });
      if (found.manualOverride) seen.overrides++;
      else if (found.allowed) seen.allowed++;
      else seen[found.nextOpen === undefined ? "blocked" : "opens"]++;
    }
  }
  // Every kind of answer was among them.
  for (const [kind, times] of Object.entries(seen)) assert.ok(times > CASES / 200, kind);
});

interface Expected {
  readonly decision: Omit<SyncDecision, "nextOpen">;
  /** Minute of the next opening before the horizon. */
  readonly opens?: number;
}

function check(
  { nextOpen, ...found }: SyncDecision,
  { decision, opens }: Expected,
  { first, horizon, told }: { first: number; horizon: Date; told: string },
): void {
  assert.deepEqual(found, decision, told);
  if (opens !== undefined) {
    assert.equal(nextOpen?.toISOString(), new Date((first + opens) * MINUTE).toISOString(), told);
  } else assert.ok(nextOpen === undefined || nextOpen >= horizon, told);
}

function oracle(
  windows: readonly SyncWindow[],
  active: readonly Uint8Array[],
  { minute, origin }: { minute: number; origin: "automatic" | "manual" },
): Expected {
  const blocking = (at: number) => {
    const denies = windows.filter((window, index) => window.kind === "deny" && active[index]?.[at]);
    const allows = windows.filter(({ kind }) => kind === "allow");
    const isOpen = windows.some((window, index) => window.kind === "allow" && active[index]?.[at]);
    return isOpen ? denies : [...denies, ...allows];
  };
  const now = blocking(minute);
  const names = now.map(({ name }) => name);
  if (now.length === 0) {
    return { decision: { allowed: true, manualOverride: false, windows: [] } };
  }
  if (origin === "manual" && now.every(({ manualSync }) => manualSync)) {
    return { decision: { allowed: true, manualOverride: true, windows: names } };
  }
  const decision = { allowed: false, manualOverride: false, windows: names };
  const allows = active.filter((_, index) => windows[index]?.kind === "allow");
  const denies = active.filter((_, index) => windows[index]?.kind === "deny");
  for (let at = minute + 1; at < BEFORE + AFTER; at++) {
    const isDenied = denies.some((each) => each[at] === 1);
    const isAllowed = allows.length === 0 || allows.some((each) => each[at] === 1);
    if (!isDenied && isAllowed) return { decision, opens: at };
  }
  return { decision };
}

/** For each minute whether the window is active: it started less than its duration before. */
function activeMinutes(window: SyncWindow, clock: Clock): Uint8Array {
  const fields = window.schedule.split(" ");
  const [minutes, hours, days, months, weekdays] = RANGES.map(([from, to], index) =>
    valuesOf(fields[index] ?? "", from, to)
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const either = fields[2] !== "*" && fields[4] !== "*";
  const fires = (at: number) => {
    const isTime = minutes[clock.minute[at] ?? 0] && hours[clock.hour[at] ?? 0];
    if (!isTime || !months[clock.month[at] ?? 0]) return false;
    const [onDay, onWeekday] = [days[clock.day[at] ?? 0], weekdays[clock.weekday[at] ?? 0]];
    return either ? onDay || onWeekday : onDay && onWeekday;
  };
  const active = new Uint8Array(BEFORE + AFTER);
  const length = window.durationSeconds / 60;
  for (let at = 0, until = 0; at < active.length; at++) {
    if (fires(at)) until = at + length;
    if (at < until) active[at] = 1;
  }
  return active;
}

const RANGES = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]] as const;

/** For each number whether it is among those of a field: `*`, and lists of numbers, ranges and `*` with a step. */
function valuesOf(field: string, from: number, to: number): Uint8Array {
  const values = new Uint8Array(to + 1);
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [low = "", high = low] = range.split("-");
    const [start, end] = range === "*" ? [from, to] : [Number(low), Number(high)];
    for (let value = start; value <= end; value += Number(step)) values[value] = 1;
  }
  return values;
}

/** What the clocks of a zone show at each minute from one on. */
type Clock = Readonly<Record<"minute" | "hour" | "day" | "month" | "weekday", Uint8Array>>;

/** Clocks by zone and first minute; asked of the runtime. */
function createClocks(): (zone: string, first: number) => Clock {
  const known = new Map<string, Clock>();
  return (zone, first) => {
    const name = `${zone} ${first}`;
    const shown = known.get(name) ?? clockOf(zone, first);
    known.set(name, shown);
    return shown;
  };
}

function clockOf(timeZone: string, first: number): Clock {
  const numeric = "numeric" as const;
  const [year, month, day, hour, minute] = [numeric, numeric, numeric, numeric, numeric];
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year,
    month,
    day,
    hour,
    minute,
  });
  const column = () => new Uint8Array(BEFORE + AFTER);
  const clock = {
    minute: column(),
    hour: column(),
    day: column(),
    month: column(),
    weekday: column(),
  };
  for (let at = 0; at < BEFORE + AFTER; at++) {
    const text = format.format((first + at) * MINUTE);
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (text.match(/\d+/g) ?? [])
      .map(Number);
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
    for (const [field, value] of Object.entries({ minute, hour, day, month, weekday })) {
      clock[field as keyof Clock][at] = value;
    }
  }
  return clock;
}

interface Chance {
  readonly below: (limit: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
}

function randomWindow(name: string, { below, pick }: Chance): SyncWindow {
  const one = (from: number, to: number) => String(from + below(to - from + 1));
  const minute = pick([one(0, 59), one(0, 59), "0", "30", "*/20", `${one(0, 20)}-${one(21, 59)}`]);
  const hour = pick(["*", "2", "1,3", "0-4", one(0, 23), one(0, 23), "*/6"]);
  const day = pick(["*", "*", "*", "29", "1,28", one(1, 31)]);
  const month = pick(["*", "*", "*", "*", "2,3", one(1, 12)]);
  const weekday = pick(["*", "*", "*", "0", "1-5", one(0, 6)]);
  const minutes = pick([1, 30, 60, 90, 240, 600, DAY, 1 + below(LONGEST)]);
  return {
    name,
    kind: pick(["allow", "deny"]),
    schedule: [minute, hour, day, month, weekday].join(" "),
    durationSeconds: minutes * 60,
    timeZone: pick(ZONES),
    repositories: [],
    deployments: [],
    contexts: [],
    manualSync: below(2) === 0,
  };
}
