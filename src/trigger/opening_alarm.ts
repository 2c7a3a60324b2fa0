import { isStackwrightError, type Sync } from "../model/mod.ts";
import type { DeferredDeployments, WaitingDeployment } from "../record/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { Alarm } from "./alarm.ts";

interface OpeningAlarmParts {
  readonly deferred: Pick<DeferredDeployments, "all" | "due" | "next" | "noteAsked">;
  /** Lets work in. Throws `shutting_down`. */
  readonly submit: (work: Sync) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds until what could not be decided about, as its source is away, is tried again first. */
const AGAIN_MS = 5 * 60_000;
/** The longest such time: each is twice the one before. */
const MOST_AGAIN_MS = 60 * 60_000;

/**
 * Asks for what sync windows deferred, when they open: its source is looked at as it is by then, and
 * everything is decided again. It waits for the earliest opening, and for nothing when none is known.
 */
export class OpeningAlarm {
  readonly #parts: OpeningAlarmParts;
  readonly #alarm: Alarm;

  /** An alarm that works until `signal` aborts. */
  constructor(parts: OpeningAlarmParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#alarm = new Alarm(
      parts.clock,
      () => this.#open(parts.deferred.due(parts.clock.now())),
      signal,
    );
  }

  /** Asks for everything once: windows may be others than when it was deferred. */
  start(): void {
    this.#open(this.#parts.deferred.all());
  }

  /** Takes note that something may have been deferred, or settled. */
  note(): void {
    this.#alarm.set(this.#parts.deferred.next()?.getTime());
  }

  /** One piece of work for each request, however many of its stacks wait. */
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
