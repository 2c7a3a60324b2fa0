import { isStackwrightError, type Run, type SourceRequest, type Work } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

/** What the alarm needs of the world. */
export interface RetryAlarmParts {
  /** Looks at a source again, as a webhook would have it looked at. Throws `shutting_down`. */
  readonly submit: (source: SourceRequest) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Shortest time before something is tried again: `retry.delay: 0` must not make a tight loop. */
const LEAST_PAUSE_MS = 10_000;
/** Longest single sleep: timers take at most 24 days, and the clock may be set meanwhile. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;

/**
 * Starts retries that are due for sources which only webhooks speak of: nobody else would come back
 * for them. It waits for the earliest one, and for nothing when none is due. What it knows does not
 * outlive the process.
 */
export class RetryAlarm {
  readonly #parts: RetryAlarmParts;
  readonly #signal: AbortSignal;
  readonly #due = new Map<string, { readonly source: SourceRequest; readonly at: number }>();
  #wait = new AbortController();

  /** An alarm that works until `signal` aborts. */
  constructor(parts: RetryAlarmParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Takes note of a finished run: when it says so its source is looked at again, else not any more. */
  note({ targets }: Pick<Run, "targets">, { trigger, sources }: Work): void {
    const [source] = sources;
    if (trigger !== "webhook" || source === undefined || sources.length > 1) return;
    const { kind, url, reference, target } = source;
    const name = JSON.stringify([kind, url, reference, target]);
    const times = targets.flatMap(({ retryAt }) => retryAt === undefined ? [] : [+retryAt]);
    if (times.length === 0) this.#due.delete(name);
    else {
      const least = this.#parts.clock.now().getTime() + LEAST_PAUSE_MS;
      this.#due.set(name, { source, at: Math.max(least, Math.min(...times)) });
    }
    this.#arm();
  }

  /** Lets go of the wait there is, and waits for what is the earliest now. */
  #arm(): void {
    this.#wait.abort();
    this.#wait = new AbortController();
    if (this.#due.size === 0 || this.#signal.aborted) return;
    const at = Math.min(...[...this.#due.values()].map((each) => each.at));
    void this.#ring(at, AbortSignal.any([this.#wait.signal, this.#signal]));
  }

  async #ring(at: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    try {
      for (let rest = this.#left(at); rest > 0; rest = this.#left(at)) {
        await clock.sleep(Math.min(rest, LONGEST_SLEEP_MS), signal);
      }
    } catch {
      return;
    }
    if (signal.aborted) return;
    for (const [name, { source, at: due }] of [...this.#due]) {
      if (due > at) continue;
      this.#due.delete(name);
      this.#start(source);
    }
    this.#arm();
  }

  #left(at: number): number {
    return at - this.#parts.clock.now().getTime();
  }

  #start(source: SourceRequest): void {
    const { log, submit } = this.#parts;
    try {
      log.info("a retry is due: the source is looked at again", { reference: source.reference });
      submit(source);
    } catch (error) {
      if (isStackwrightError(error, "shutting_down")) return;
      log.error("BUG: a retry could not be started", { error });
    }
  }
}
