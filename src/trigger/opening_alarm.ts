import { isStackwrightError, type Sync } from "../model/mod.ts";
import type { DeferredDeployments } from "../record/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { Alarm } from "./alarm.ts";

interface OpeningAlarmParts {
  readonly deferred: Pick<DeferredDeployments, "take" | "next">;
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
      (setBackMs) => this.#open(setBackMs > 0 ? "all" : parts.clock.now()),
      signal,
    );
  }

  /** Requests all deferred deployments once, as windows may have changed since. */
  start(): void {
    this.#open("all");
  }

  /** Sets the alarm again, as deployments may have been deferred or settled. */
  note(): void {
    this.#alarm.set(this.#parts.deferred.next()?.getTime());
  }

  /** Submits one piece of work for each request that is due. */
  #open(due: Date | "all"): void {
    const { clock, log, deferred, submit } = this.#parts;
    const now = clock.now().getTime();
    const again = (asked: number) => new Date(now + Math.min(AGAIN_MS * 2 ** asked, MOST_AGAIN_MS));
    const taken = deferred.take(due, again);
    try {
      for (const { trigger, request } of taken) {
        submit({ kind: "sync", trigger, origin: "automatic", sources: [request] });
      }
      if (taken.length > 0) {
        log.info("deferred deployments are decided about again", { sources: taken.length });
      }
    } catch (error) {
      if (isStackwrightError(error, "shutting_down")) return;
      log.error("BUG: a deferred deployment could not be asked for", { error });
    }
    this.note();
  }
}
