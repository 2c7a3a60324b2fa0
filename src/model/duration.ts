import { errors, type StackwrightError } from "./error.ts";

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  "µs": 1e-6,
  "μs": 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const WHOLE = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** Most characters of a duration, as in a label of each service: those of each part cost time. */
const MOST_CHARACTERS = 100;
/** Most seconds of a duration: a `Date` holds later instants, up to the year 275,760. */
const LONGEST = 4e12;

/**
 * Reads a duration of the configuration: a number or a text of digits is seconds, anything else is a Go
 * duration such as `1h30m`. Whole seconds, perhaps negative; ranges are the caller's rule.
 *
 * Throws `bad_request` when the text is no duration, is not a whole number of seconds, or is too large.
 */
export function parseDuration(value: number | string): number {
  const seconds = typeof value === "number" ? value : parseText(value);
  if (!Number.isFinite(seconds)) {
    throw invalid(value, "it is not a number of seconds");
  }
  if (Math.abs(seconds) > LONGEST) throw invalid(value, "it is too large");
  if (!Number.isInteger(seconds)) throw invalid(value, "it must be a whole number of seconds");
  return seconds === 0 ? 0 : seconds;
}

function parseText(text: string): number {
  if (text.length > MOST_CHARACTERS) {
    throw errors.bad_request(
      `a duration has at most ${MOST_CHARACTERS} characters, this one ${text.length}`,
    );
  }
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) return Number(trimmed);
  if (!WHOLE.test(trimmed)) {
    throw invalid(text, "expected seconds or a duration such as 10s, 3m or 1h30m");
  }
  let seconds = 0;
  for (const [, amount, unit] of trimmed.matchAll(PART)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ""] ?? Number.NaN);
  }
  // Sums of decimal fractions are inexact in binary, and 1.1s + 0.9s has to be two seconds.
  const rounded = Number(seconds.toFixed(6));
  return trimmed.startsWith("-") ? -rounded : rounded;
}

function invalid(value: number | string, why: string): StackwrightError {
  return errors.bad_request(`${JSON.stringify(value)} is no duration: ${why}`);
}

/**
 * How long a wait, by milliseconds of a clock's uptime, goes on since it began, to follow what is waited for, with its limit where it has one.
 * Empty at first, and then new from time to time: whoever watches sees that it goes on.
 */
export function waitedText(since: number, now: number, deadline?: number): string {
  const passed = (now - since) / 1000;
  const step = passed < 60 ? 10 : 60;
  const seconds = Math.floor(passed / step) * step;
  if (seconds < step) return "";
  const most = deadline && Math.ceil((deadline - since) / 1000);
  return ` (${seconds} s${most === undefined ? "" : ` of at most ${most} s`})`;
}

/** Prints whole seconds as Go does: `62h0m0s`, `3m0s`, `10s`, `0s`. */
export function formatDuration(seconds: number): string {
  const absolute = Math.abs(seconds);
  const hours = Math.floor(absolute / 3600);
  const minutes = Math.floor((absolute % 3600) / 60);
  const rest = absolute % 60;
  const parts = [
    hours > 0 ? `${hours}h` : "",
    hours > 0 || minutes > 0 ? `${minutes}m` : "",
    `${rest}s`,
  ];
  return (seconds < 0 ? "-" : "") + parts.join("");
}
