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
/** Milliseconds by which no two offsets of a zone are apart. */
const FARTHEST_APART_MS = 2 * 24 * 60 * MINUTE_MS;
/**
 * Milliseconds after which a firing counts as none. Years repeat after 28, and after 40 where one in
 * between is no leap year: what all that while falls only into times that the clocks skip never fires.
 */
const FARTHEST_MS = 50 * 365.25 * 24 * 60 * MINUTE_MS;
/** The last 28 years before those at which the library ends its search: each kind of year is there. */
const ALL_YEARS = new Date(Date.UTC(2972, 0, 1) - 1);
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
  return rememberingLast((after) => {
    const last = after.getTime() + FARTHEST_MS;
    for (let from = after.getTime(); from < last;) {
      // The next firing is after `from`, and clocks may have changed at that instant.
      const clock = Temporal.Instant.fromEpochMilliseconds(from + 1).toZonedDateTimeISO(zone);
      const ahead = clock.offsetNanoseconds / 1e6;
      const shown = pattern.nextRun(new Date(from + ahead));
      if (shown === null) return undefined;
      const instant = shown.getTime() - ahead;
      const change = clock.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity;
      if (instant < change) return new Date(instant);
      // In between clocks show other times, whatever they change: only those near it matter.
      from = Math.max(change - 1, instant - FARTHEST_APART_MS);
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
