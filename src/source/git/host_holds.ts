import type { Clock, HttpAnswer } from "../../system/mod.ts";

/** First hold, in milliseconds, for a host that sends no `Retry-After`; each further one doubles. */
const FIRST_HOLD_MS = 60_000;
/** Longest hold without a `Retry-After`. */
const LONGEST_GUESS_MS = 15 * 60_000;
/** Longest hold, whatever `Retry-After` says. */
const LONGEST_HOLD_MS = 60 * 60_000;
/** Most hosts with their logins that are remembered, those of the newest answers. */
const MOST_HOSTS = 1_000;

interface Hold {
  /** In milliseconds since 1970. */
  readonly until: number;
  /** Number of answers in a row that asked for fewer requests. */
  readonly times: number;
}

/**
 * Hosts that answered that they get too many requests by a login, or without one; polls do not ask them
 * while a hold lasts. `host` in the methods names both.
 */
export class HostHolds {
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Notes the status of an answer: 429, or 503 with a `Retry-After`, begins a hold; a status below 400
   * ends it. Returns the end of the hold that this answer began, if it did.
   */
  note(host: string, answer: HttpAnswer): Date | undefined {
    const { status } = answer;
    const said = answer.header("retry-after")?.trim();
    if (status !== 429 && (status !== 503 || said === undefined)) {
      if (status < 400) this.#holds.delete(host);
      return undefined;
    }
    const now = this.#clock.now().getTime();
    const times = (this.#holds.get(host)?.times ?? 0) + 1;
    const guess = Math.min(FIRST_HOLD_MS * 2 ** (times - 1), LONGEST_GUESS_MS);
    const until = now + Math.min(pauseOf(said, now) ?? guess, LONGEST_HOLD_MS);
    this.#holds.delete(host);
    const [oldest] = this.#holds.keys();
    if (this.#holds.size >= MOST_HOSTS && oldest !== undefined) this.#holds.delete(oldest);
    this.#holds.set(host, { until, times });
    return new Date(until);
  }

  /** End of the hold of a host; `undefined` when the host may be asked. */
  until(host: string): Date | undefined {
    const until = this.#holds.get(host)?.until ?? 0;
    const left = until - this.#clock.now().getTime();
    // A hold longer than the longest one means that the clock was set back.
    return left > 0 && left <= LONGEST_HOLD_MS ? new Date(until) : undefined;
  }
}

/** Milliseconds that a `Retry-After` of seconds or a date asks for; `undefined` for other texts. */
function pauseOf(said: string | undefined, now: number): number | undefined {
  if (said === undefined) return undefined;
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000;
  const date = /[a-z]/i.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
