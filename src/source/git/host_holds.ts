import { type Clock, type HttpAnswer, keepLatest } from "../../system/mod.ts";

/** First hold, in milliseconds, for a host that sends no `Retry-After`; each further one doubles. */
const FIRST_HOLD_MS = 60_000;
/** Longest hold without a `Retry-After`. */
const LONGEST_GUESS_MS = 15 * 60_000;
/** Longest hold of a repository, whatever `Retry-After` says. */
const LONGEST_HOLD_MS = 60 * 60_000;
/** Longest hold of its host: what answers below a path there may be an author's. */
const LONGEST_SHARED_MS = 5 * 60_000;
/** Most hosts, and most repositories, with their logins that are remembered, those of the newest answers. */
const MOST_REMEMBERED = 1_000;

interface Hold {
  /** In milliseconds since 1970. */
  readonly until: number;
  /** Number of answers in a row that asked for fewer requests. */
  readonly times: number;
}

/** The names of what is asked, each with the login: who uses up what one may ask holds nobody else. */
export interface AskedOf {
  readonly host: string;
  readonly repository: string;
}

/**
 * Hosts that answered that they get too many requests by a login, or without one; polls do not ask them
 * while a hold lasts. The repository that was asked is held for as long as it says, the others of its
 * host for a few minutes of that. No answer makes such a shared hold longer, a repository that is refused
 * again begins none, and none begins in the minutes after another: who answers may be an author.
 */
export class HostHolds {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, Hold>();
  readonly #repositories = new Map<string, Hold>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Notes the status of an answer: 429, or 503 with a `Retry-After`, begins a hold; a status below 400
   * ends those of the repository and its host. Returns the end of the repository's hold that this answer
   * began, if it did.
   */
  note({ host, repository }: AskedOf, answer: HttpAnswer): Date | undefined {
    const { status } = answer;
    const now = this.#clock.now().getTime();
    const said = answer.header("retry-after")?.trim();
    if (status !== 429 && (status !== 503 || said === undefined)) {
      if (status < 400) {
        this.#repositories.delete(repository);
        const shared = this.#hosts.get(host);
        // It is remembered, so that who answers well and badly in turn begins no other one at once.
        if (shared !== undefined) {
          this.#hosts.set(host, { ...shared, until: Math.min(shared.until, now) });
        }
      }
      return undefined;
    }
    const asked = pauseOf(said, now);
    const free = (this.#hosts.get(host)?.until ?? -Infinity) + LONGEST_SHARED_MS;
    if (now >= free && !this.#repositories.has(repository)) {
      this.#hosts.delete(host);
      this.#hold(this.#hosts, host, asked, LONGEST_SHARED_MS);
    }
    return this.#hold(this.#repositories, repository, asked, LONGEST_HOLD_MS);
  }

  /** End of the hold of a repository itself, without that of its host. */
  ownUntil({ repository }: AskedOf): Date | undefined {
    return this.#end([this.#repositories.get(repository)]);
  }

  #hold(holds: Map<string, Hold>, name: string, asked: number | undefined, longest: number): Date {
    const times = (holds.get(name)?.times ?? 0) + 1;
    const guess = Math.min(FIRST_HOLD_MS * 2 ** (times - 1), LONGEST_GUESS_MS);
    const until = this.#clock.now().getTime() + Math.min(asked ?? guess, longest);
    keepLatest(holds, MOST_REMEMBERED, name, { until, times });
    return new Date(until);
  }

  /** End of the holds of a repository and its host; `undefined` when it may be asked. */
  until({ host, repository }: AskedOf): Date | undefined {
    return this.#end([this.#hosts.get(host), this.#repositories.get(repository)]);
  }

  #end(holds: readonly (Hold | undefined)[]): Date | undefined {
    const now = this.#clock.now().getTime();
    // A hold longer than the longest one means that the clock was set back.
    const ends = holds
      .flatMap((hold) => hold ?? [])
      .filter(({ until }) => until > now && until - now <= LONGEST_HOLD_MS);
    return ends.length === 0 ? undefined : new Date(Math.max(...ends.map(({ until }) => until)));
  }
}

/** Milliseconds that a `Retry-After` of seconds or a date asks for; `undefined` for other texts. */
function pauseOf(said: string | undefined, now: number): number | undefined {
  if (said === undefined) return undefined;
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000;
  const date = /[a-z]/i.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
