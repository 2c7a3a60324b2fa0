import { Cron } from "croner";
import { checkScheduleShape } from "../config/mod.ts";
import { messageOf, parseDuration, StackwrightError } from "../model/mod.ts";

const ZONE = /^\s*(?:CRON_)?TZ=(\S+)\s+/;
const EVERY = /^@every\s+/;
/** The library does not know every descriptor, so all of them are spelled out here. */
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * When a schedule fires next: the first time after `after`. A schedule is a cron expression of five
 * fields, a descriptor such as `@hourly`, or `@every 5m`, which counts from `after`; a prefix
 * `TZ=zone` or `CRON_TZ=zone` beats `timeZone` (an IANA name). Day of month and day of week are
 * alternatives when both are limited. A local time that the clocks skip fires when they have, one
 * that happens twice fires the first time.
 *
 * Returns `undefined` when it never fires (30 February). Throws `bad_request` when it is no schedule.
 */
export function nextFiring(schedule: string, after: Date, timeZone: string): Date | undefined {
  const zone = ZONE.exec(schedule)?.[1] ?? timeZone;
  const text = schedule.replace(ZONE, "").trim();
  if (EVERY.test(text)) {
    const seconds = parseDuration(text.replace(EVERY, ""));
    return new Date(after.getTime() + seconds * 1000);
  }
  return cron(DESCRIPTORS[text] ?? text, zone).nextRun(after) ?? undefined;
}

/**
 * Says what is wrong with a schedule, or nothing: its shape, its fields, or that it fires at no time
 * after `now`.
 */
export function checkSchedule(
  schedule: string,
  { now, timeZone }: { readonly now: Date; readonly timeZone: string },
): string | undefined {
  const shape = checkScheduleShape(schedule.trim());
  if (shape !== undefined) return shape;
  try {
    if (nextFiring(schedule, now, timeZone) === undefined) return "it never fires";
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

/** Made for one question only: an instance holds about 80 KB once it was asked. */
function cron(expression: string, timezone: string): Cron {
  try {
    return new Cron(expression, { timezone, mode: "5-part", paused: true });
  } catch (error) {
    throw new StackwrightError(
      "bad_request",
      `${JSON.stringify(expression)} is no schedule: ${
        messageOf(error).replace(/^CronPattern: /, "")
      }`,
      { cause: error },
    );
  }
}
