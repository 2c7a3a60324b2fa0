import { Cron } from "croner";
import { checkScheduleShape } from "../config/mod.ts";
import { errors, messageOf, parseDuration } from "../model/mod.ts";

const ZONE = /^\s*(?:CRON_)?TZ=(\S+)\s+/;
const EVERY = /^@every\s+/;
/** All descriptors, since the library does not know every one. */
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MINUTE_MS = 60_000;
/** Milliseconds within which no zone changes its clocks twice; no two offsets are so far apart. */
const SETTLED_MS = 2 * 24 * 60 * MINUTE_MS;
/**
 * Milliseconds after which a firing counts as none. Years repeat after 28, and after 40 where one in
 * between is no leap year: what all that while falls only into times that the clocks skip never fires.
 */
const FARTHEST_MS = 50 * 365.25 * 24 * 60 * MINUTE_MS;
/** The last 28 years before those at which the library ends its search: each kind of year is there. */
const ALL_YEARS = new Date(Date.UTC(2972, 0, 1) - 1);
/** Offsets to remember: one for each {@link SETTLED_MS} of five years. */
const MOST_REMEMBERED = 1000;

/** A parsed schedule. It holds about 100 KB once used: keep few, and not for long. */
export interface Schedule {
  /** The first firing after an instant; `undefined` when there is none within 50 years. */
  next(after: Date): Date | undefined;
  /** The last firing at or before an instant, as long as it is after `since`. */
  last(at: Date, since: Date): Date | undefined;
}

/**
 * Reads a schedule: a cron expression of five fields, a descriptor such as `@hourly`, or `@every
 * 5m`, which counts from the instant asked about; a prefix `TZ=zone` or `CRON_TZ=zone` beats
 * `timeZone` (an IANA name). Day of month and day of week are alternatives when both are limited.
 * It fires whenever the clocks of the zone show one of its times: not at all at a skipped time,
 * twice at a repeated one.
 *
 * Throws `bad_request` for an invalid schedule.
 */
export function readSchedule(schedule: string, timeZone: string): Schedule {
  const zone = ZONE.exec(schedule)?.[1] ?? timeZone;
  const text = schedule.replace(ZONE, "").trim();
  const next = EVERY.test(text) ? every(text.replace(EVERY, "")) : byClock(text, zone);
  return { next, last: (at, since) => lastOf(next, at, since) };
}

/** The next time at which a schedule fires; see {@link readSchedule}. Throws `bad_request`. */
export function nextFiring(schedule: string, after: Date, timeZone: string): Date | undefined {
  return readSchedule(schedule, timeZone).next(after);
}

/** The fault of a schedule, or `undefined`: a bad shape, a bad field, or no firing after `now`. */
export function checkSchedule(
  schedule: string,
  { now }: { readonly now: Date },
): string | undefined {
  const shape = checkScheduleShape(schedule.trim());
  if (shape !== undefined) return shape;
  const text = schedule.trim().replace(ZONE, "").trim();
  if (EVERY.test(text)) return undefined;
  try {
    // Without the zone: its clocks make this a hundred times as slow, and there are many jobs.
    if (cron(text).nextRun(now) === null) return "it never fires";
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

type Next = (after: Date) => Date | undefined;

function every(text: string): Next {
  const milliseconds = parseDuration(text) * 1000;
  return (after) => {
    const next = new Date(after.getTime() + milliseconds);
    // Beyond the last instant that a `Date` can hold.
    return Number.isNaN(next.getTime()) ? undefined : next;
  };
}

/**
 * Firings by the clocks of a zone. The library computes in UTC what clocks show, and this function
 * finds the instants: the library itself would fire at skipped times, and once at repeated ones.
 */
function byClock(expression: string, zone: string): Next {
  const pattern = cron(expression);
  const offset = offsets(zone);
  return rememberingLast((after) => {
    const last = after.getTime() + FARTHEST_MS;
    for (let from = after.getTime(); from < last;) {
      // The next firing is after `from`, and clocks may have changed at that instant.
      const ahead = offset(from + 1);
      const shown = pattern.nextRun(new Date(from + ahead));
      if (shown === null) return undefined;
      const instant = shown.getTime() - ahead;
      const near = Math.min(instant, from + 1 + SETTLED_MS);
      const change = changeBetween(offset, from + 1, near);
      if (change !== undefined) from = change - 1;
      else if (near === instant) return new Date(instant);
      // In between clocks show other times, whatever they change: only those near it matter.
      else from = Math.max(near - 1, instant - SETTLED_MS);
    }
    return undefined;
  });
}

/** Remembers the last answer, which holds for all instants from the one asked about up to it. */
function rememberingLast(next: Next): Next {
  let asked = Number.POSITIVE_INFINITY;
  let answer: Date | undefined;
  return (after) => {
    const isSame = after.getTime() >= asked && (answer === undefined || after < answer);
    if (!isSame) [asked, answer] = [after.getTime(), next(after)];
    return answer;
  };
}

/** The instant from which the offset from UTC is that at `after`; not if it is so at `before`. */
function changeBetween(offset: (time: number) => number, before: number, after: number) {
  const ahead = offset(before);
  if (offset(after) === ahead) return undefined;
  // Clocks change at full minutes.
  while (after - before > MINUTE_MS) {
    const middle = Math.floor((before + after) / 2);
    if (offset(middle) === ahead) before = middle;
    else after = middle;
  }
  return Math.floor(after / MINUTE_MS) * MINUTE_MS;
}

const CLOCK = {
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
} as const;

/** Milliseconds by which the clocks of a zone are ahead of UTC. */
function offsets(timeZone: string): (time: number) => number {
  if (timeZone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", { timeZone, ...CLOCK });
  const remembered = new Map<number, number>();
  const look = (time: number) => {
    const numbers = format.format(time).match(/\d+/g)?.map(Number) ?? [];
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = numbers;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000;
  };
  const remember = (time: number) => {
    const offset = remembered.get(time) ?? look(time);
    if (remembered.size < MOST_REMEMBERED) remembered.set(time, offset);
    return offset;
  };
  // Asking the runtime takes most of the time of a decision: only near a change of clocks.
  return (time) => {
    const before = Math.floor(time / SETTLED_MS) * SETTLED_MS;
    const ahead = remember(before);
    return ahead === remember(before + SETTLED_MS) ? ahead : look(time);
  };
}

/** Halves the time in which the last firing is, until there is no room for another one. */
function lastOf(next: Next, at: Date, since: Date): Date | undefined {
  let found = next(since);
  if (found === undefined || found > at) return undefined;
  for (let to = at.getTime(); to - found.getTime() >= MINUTE_MS;) {
    const middle = Math.floor((found.getTime() + to) / 2);
    const later = next(new Date(middle));
    if (later !== undefined && later <= at) found = later;
    else to = middle;
  }
  return found;
}

/** Reads five fields or a descriptor, as times of UTC. */
function cron(expression: string): Pick<Cron, "nextRun"> {
  let pattern: Cron;
  try {
    const fields = DESCRIPTORS[expression] ?? expression;
    pattern = new Cron(fields, { utcOffset: 0, mode: "5-part", paused: true });
  } catch (error) {
    throw errors.bad_request(
      `${JSON.stringify(expression)} is no schedule: ` +
        `${messageOf(error).replace(/^CronPattern: /, "")}`,
      { cause: error },
    );
  }
  // Asked about another time, the library would look through 400 years.
  return pattern.nextRun(ALL_YEARS) === null ? { nextRun: () => null } : pattern;
}
