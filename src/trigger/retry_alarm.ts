import {
  isStackwrightError,
  requestKey,
  type Run,
  type SourceRequest,
  type StackKey,
  type Work,
} from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { Alarm } from "./alarm.ts";

interface RetryAlarmParts {
  /** Submits a source as a webhook would. Throws `shutting_down`. */
  readonly submit: (source: SourceRequest) => void;
  /** Whether a stack still waits for its retry: it is neither settled nor held by now. */
  readonly isOpen: (key: StackKey) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** A source to be submitted again. */
interface Due {
  readonly source: SourceRequest;
  readonly stacks: readonly StackKey[];
  readonly at: number;
}

/** Most sources that wait: pushed branches that fail are sources of their own. */
const MOST_DUE = 1000;
/** Shortest pause before a retry: `retry.delay: 0` must not make a tight loop. */
const LEAST_PAUSE_MS = 10_000;

/**
 * Starts retries for sources without polls: after a webhook nothing else would retry them. Waits for
 * the earliest. The source is resolved anew. Retries do not outlive the process.
 */
export class RetryAlarm {
  readonly #parts: RetryAlarmParts;
  readonly #alarm: Alarm;
  readonly #due = new Map<string, Due>();

  /** An alarm that works until `signal` aborts. */
  constructor(parts: RetryAlarmParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.clock, (setBackMs) => this.#ring(setBackMs), signal);
  }

  /** Notes a finished run: sets the retry of its source, or removes it when the run names none. */
  note({ targets }: Pick<Run, "targets">, work: Work): void {
    if (work.kind !== "sync" || work.trigger !== "webhook") return;
    const [source, ...more] = work.sources;
    if (source === undefined || more.length > 0) return;
    const name = requestKey(source);
    const again = targets.flatMap(({ context, stack, retryAt }) =>
      retryAt === undefined ? [] : [{ key: { context, name: stack }, at: retryAt.getTime() }]
    );
    if (again.length === 0) this.#due.delete(name);
    else {
      const least = this.#parts.clock.now().getTime() + LEAST_PAUSE_MS;
      const at = Math.max(least, Math.min(...again.map((each) => each.at)));
      this.#due.set(name, { source, stacks: again.map(({ key }) => key), at });
      if (this.#due.size > MOST_DUE) this.#due.delete(this.#firstToGo());
    }
    this.#arm();
  }

  /** The oldest entry of the repository with the most. */
  #firstToGo(): string {
    const groups = Map.groupBy(this.#due, ([, { source: { url } }]) => url).values();
    const [[name] = [""]] = groups.reduce((one, other) => other.length > one.length ? other : one);
    return name;
  }

  /** Sets the alarm to the earliest retry. */
  #arm(): void {
    const times = [...this.#due.values()].map(({ at }) => at);
    this.#alarm.set(times.length === 0 ? undefined : Math.min(...times));
  }

  #ring(setBackMs: number): void {
    const now = this.#parts.clock.now().getTime();
    for (const [name, due] of [...this.#due]) {
      const at = due.at - setBackMs;
      if (at > now) this.#due.set(name, { ...due, at });
      else {
        this.#due.delete(name);
        this.#start(due);
      }
    }
    this.#arm();
  }

  #start({ source, stacks }: Due): void {
    const { log, submit, isOpen } = this.#parts;
    try {
      if (!stacks.some(isOpen)) return;
      log.info("a retry is due: the source is looked at again", { reference: source.reference });
      submit(source);
    } catch (error) {
      if (isStackwrightError(error, "shutting_down")) return;
      log.error("BUG: a retry could not be started", { error });
    }
  }
}
