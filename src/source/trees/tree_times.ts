import { errors } from "../../model/mod.ts";
import { type Clock, keepLatest, withDeadline } from "../../system/mod.ts";

/** Milliseconds for the files of one commit with its submodules: a fetch may take ten minutes, and there may be 500. */
const MOST_MS = 15 * 60 * 1000;
/**
 * Milliseconds without work on a commit after which its time begins anew: other stacks of one run fail at
 * once, and a later run goes on with the submodules that are missing still.
 */
const FORGOTTEN_MS = 5 * 60 * 1000;
/** Commits whose times are known; those under way at once are far fewer. */
const MOST_COMMITS = 1000;

/** The time that a commit took so far; that of several pieces of work at once counts once. */
interface Taken {
  milliseconds: number;
  /** Pieces of work that go on. */
  under: number;
  /** Time at which it was counted last. */
  at: number;
}

/**
 * Times that the files of commits take. A server that never ends what it sends, for one submodule after
 * the other, would else hold a run, with all that it deploys from other repositories, for days.
 */
export class TreeTimes {
  readonly #clock: Clock;
  readonly #taken = new Map<string, Taken>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs work on the files of a commit, which `key` names, within what is left of its time.
   *
   * Throws `source_invalid` when that is over, at once for some minutes after it was.
   */
  async within<T>(
    key: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const taken = keepLatest(this.#taken, MOST_COMMITS, key, this.#of(key));
    const milliseconds = MOST_MS - taken.milliseconds;
    if (milliseconds <= 0) throw late();
    this.#count(taken);
    taken.under++;
    try {
      return await withDeadline({ clock: this.#clock, milliseconds, late }, work, signal);
    } finally {
      this.#count(taken);
      taken.under--;
    }
  }

  #of(key: string): Taken {
    const now = this.#clock.now().getTime();
    const known = this.#taken.get(key);
    const isOld = known?.under === 0 && Math.abs(now - known.at) >= FORGOTTEN_MS;
    return known === undefined || isOld ? { milliseconds: 0, under: 0, at: now } : known;
  }

  #count(taken: Taken): void {
    const now = this.#clock.now().getTime();
    if (taken.under > 0) taken.milliseconds += Math.max(0, now - taken.at);
    taken.at = now;
  }
}

function late() {
  return errors.source_invalid(
    `the files of the commit, with those of its submodules, took more than ${MOST_MS / 60_000} ` +
      "minutes, so nothing of it was deployed. Submodules that were fetched are kept: a later run " +
      "goes on with the others. Is the server of one slow, or are there too many?",
  );
}
