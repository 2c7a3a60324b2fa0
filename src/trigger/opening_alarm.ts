import { isStackwrightError, type Sync } from "../model/mod.ts";
import type { DeferredDeployments, WaitingDeployment } from "../record/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { Alarm } from "./alarm.ts";

interface OpeningAlarmParts {
  readonly deferred: Pick<DeferredDeployments, "all" | "due" | "next" | "noteAsked">;
  /** Submits work. Throws `shutting_down`. */
  readonly submit: (work: Sync) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds before the first retry where nothing was decided, since the source is away. */
const AGAIN_MS = 5 * 60_000;
/** Longest pause between such retries; each pause is twice the one before. */
const MOST_AGAIN_MS = 60 * 60_000;

/** Requests deferred deployments when their windows open; everything is decided again then. */
export class OpeningAlarm {
  readonly #parts: OpeningAlarmParts;
  readonly #alarm: Alarm;

  /** An alarm that works until `signal` aborts. */
  constructor(parts: OpeningAlarmParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#alarm = new Alarm(
      parts.clock,
      (setBackMs) =>
        this.#open(setBackMs > 0 ? parts.deferred.all() : parts.deferred.due(parts.clock.now())),
      signal,
    );
  }

  /** Requests all deferred deployments once, as windows may have changed since. */
  start(): void {
    this.#open(this.#parts.deferred.all());
  }

  /** Sets the alarm again, as deployments may have been deferred or settled. */
  note(): void {
    this.#alarm.set(this.#parts.deferred.next()?.getTime());
  }

  /** Submits one piece of work for each request, however many stacks of it wait. */
  #open(due: readonly WaitingDeployment[]): void {
    const { clock, log, deferred, submit } = this.#parts;
    const now = clock.now().getTime();
    const works = new Map<string, Sync>();
    for (const waiting of due) {
      const { trigger, request, asks, asked } = waiting;
      const again = Math.min(AGAIN_MS * 2 ** asked, MOST_AGAIN_MS);
      deferred.noteAsked(waiting, new Date(now + again));
      const work = { kind: "sync", trigger, origin: "automatic", sources: [request] } as const;
      works.set(`${trigger} ${asks}`, work);
    }
    try {
      for (const work of works.values()) submit(work);
      if (works.size > 0) {
        log.info("deferred deployments are decided about again", { sources: works.size });
      }
    } catch (error) {
      if (isStackwrightError(error, "shutting_down")) return;
      log.error("BUG: a deferred deployment could not be asked for", { error });
    }
    this.note();
  }
}
