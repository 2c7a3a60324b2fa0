/**
 * An instant as ISO 8601 with milliseconds and UTC offset in an IANA zone:
 * `2026-03-10T12:00:00.123+01:00`. For many instants of one zone take
 * {@link createTimeFormat}, which is a hundred times faster.
 */
export function formatTime(instant: Date, timeZone: string): string {
  return createTimeFormat(timeZone)(instant);
}

/** Milliseconds for which a zone's distance from UTC is certain: it changes at such quarters alone. */
const QUARTER_MS = 15 * 60 * 1000;
/** Quarters that are remembered; lists of runs show some days at most. */
const MOST_QUARTERS = 1000;
/** Before it zones changed their clocks within a quarter: the last one at one minute past midnight. */
const SETTLED_MS = Date.UTC(2012, 0, 1);
/** Years of more digits are written in another way. */
const LAST_MS = Date.UTC(9999, 0, 1);

/** Distance of a zone from UTC, as a number and as it is written. */
interface Offset {
  readonly milliseconds: number;
  /** `+01:00` */
  readonly text: string;
}

/** An instant as people read it. */
export type TimeFormat = (instant: Date) => string;

/** A function that prints instants as {@link formatTime} does, for one zone. */
export function createTimeFormat(timeZone: string): TimeFormat {
  let format: Intl.DateTimeFormat | undefined;
  const quarters = new Map<number, Offset>();
  const partsOf = (instant: Date) => {
    // Making one, and asking it, takes longer than anything else that is done for a line of the log.
    format ??= createFormat(timeZone);
    return partReader(format.formatToParts(instant));
  };
  return (instant) => {
    const time = instant.getTime();
    // The usual zone needs no table of zones, whose first use takes as long as much of a start.
    if (timeZone === "UTC" && time >= 0 && time < LAST_MS) {
      return `${instant.toISOString().slice(0, -1)}+00:00`;
    }
    if (!(time >= SETTLED_MS && time < LAST_MS)) {
      return print(partsOf(instant), instant);
    }
    const quarter = Math.floor(time / QUARTER_MS);
    let offset = quarters.get(quarter);
    if (offset === undefined) {
      if (quarters.size >= MOST_QUARTERS) quarters.clear();
      offset = offsetAt(partsOf(instant), time);
      quarters.set(quarter, offset);
    }
    return new Date(time + offset.milliseconds).toISOString().slice(0, -1) + offset.text;
  };
}

type PartReader = (type: Intl.DateTimeFormatPartTypes) => string;

function createFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
}

function partReader(parts: readonly Intl.DateTimeFormatPart[]): PartReader {
  return (type) => parts.find((each) => each.type === type)?.value ?? "";
}

function offsetAt(part: PartReader, time: number): Offset {
  const shown = Date.UTC(
    Number(part("year")),
    Number(part("month")) - 1,
    Number(part("day")),
    Number(part("hour")),
    Number(part("minute")),
    Number(part("second")),
  );
  return { milliseconds: shown - Math.floor(time / 1000) * 1000, text: offsetText(part) };
}

function offsetText(part: PartReader): string {
  return part("timeZoneName").replace(/^GMT$/, "GMT+00:00").slice(3);
}

function print(part: PartReader, instant: Date): string {
  const day = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
  const time = `${day}T${part("hour")}:${part("minute")}:${part("second")}`;
  return `${time}.${String(instant.getMilliseconds()).padStart(3, "0")}${offsetText(part)}`;
}
