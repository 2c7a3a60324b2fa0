import { parseDuration } from "../model/mod.ts";

const DESCRIPTORS = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
const ZONE = /^(?:CRON_)?TZ=(\S+)\s+/;
const FIELD = /^[A-Za-z0-9*?\/,#-]+$/;
const LEAST_EVERY = 10;
/** Most characters of a schedule; one that lists every number of every field has fewer. */
export const LONGEST_SCHEDULE = 500;

/**
 * The fault in the form of a schedule, `undefined` for none: five cron fields, a descriptor such as
 * `@hourly`, or `@every 5m`, after an optional zone (`CRON_TZ=Europe/Berlin`). Whether the fields name
 * existing times is for the cron library to say.
 */
export function checkScheduleShape(schedule: string): string | undefined {
  if (schedule.length > LONGEST_SCHEDULE) {
    return `expected at most ${LONGEST_SCHEDULE} characters, found ${schedule.length}`;
  }
  const zone = ZONE.exec(schedule)?.[1];
  if (zone !== undefined && !isTimeZone(zone)) return `${JSON.stringify(zone)} is no time zone`;
  const text = schedule.replace(ZONE, "").trim();
  if (text.startsWith("@every ")) return checkEvery(text.slice("@every ".length));
  if (text.startsWith("@")) {
    return DESCRIPTORS.includes(text.slice(1))
      ? undefined
      : `expected @every with a duration, or one of @${DESCRIPTORS.join(", @")}`;
  }
  const fields = text.split(/\s+/);
  if (fields.length === 5 && fields.every((field) => FIELD.test(field))) return undefined;
  return "expected a cron expression of five fields, such as 30 4 * * 1-5";
}

/** True when the runtime knows an IANA time zone of this name. */
export function isTimeZone(name: string): boolean {
  if (name === "UTC") return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // Which knows no abbreviations that Intl takes on some runtimes, such as IST.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function checkEvery(text: string): string | undefined {
  try {
    if (parseDuration(text) >= LEAST_EVERY) return undefined;
  } catch {
    return "expected a duration after @every, such as 5m";
  }
  return `expected at least ${LEAST_EVERY}s after @every`;
}
