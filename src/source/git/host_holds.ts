import type { Clock, HttpAnswer } from "../../system/mod.ts";

/** Milliseconds for which a host is left alone that does not say how long; doubles each time. */
const FIRST_HOLD_MS = 60_000;
/** The longest of these. */
const LONGEST_GUESS_MS = 15 * 60_000;
/** Longest that a host is left alone, whatever it says. */
const LONGEST_HOLD_MS = 60 * 60_000;
/** Hosts that something is remembered of; with more than that all are asked as usual. */
const MOST_HOSTS = 1_000;

interface Hold {
  /** In milliseconds since 1970. */
  readonly until: number;
  /** Number of times that it asked in a row to be left alone. */
  readonly times: number;
}

/** Hosts that said that they are asked too much. Who asks by itself, on a timer, leaves them alone. */
export class HostHolds {
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Notes what a host answered: 429 is a hold, as is 503 with a `Retry-After`, and whatever is no
   * error ends one. Returns until when it wants to be left alone, if it does.
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
    if (this.#holds.size >= MOST_HOSTS) this.#holds.clear();
    this.#holds.set(host, { until, times });
    return new Date(until);
  }

  /** Until when a host wants to be left alone; `undefined` when it may be asked. */
  until(host: string): Date | undefined {
    const until = this.#holds.get(host)?.until ?? 0;
    const left = until - this.#clock.now().getTime();
    // A clock that was set back does not make it longer.
    return left > 0 && left <= LONGEST_HOLD_MS ? new Date(until) : undefined;
  }
}

/** The pause that a `Retry-After` asks for, in seconds or as a date; `undefined` when it is neither. */
function pauseOf(said: string | undefined, now: number): number | undefined {
  if (said === undefined) return undefined;
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000;
  const date = /[a-z]/i.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
