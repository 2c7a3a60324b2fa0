import { isStackwrightError, requestKey, type StackKey, type Sync } from "../model/mod.ts";
import type { Deferred, DeferredDeployments } from "../record/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { Alarm } from "./alarm.ts";

interface OpeningAlarmParts {
  readonly deferred: Pick<DeferredDeployments, "all" | "putOff">;
  /** Lets work in. Throws `shutting_down`. */
  readonly submit: (work: Sync) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds until what could not be decided about, as its source is away, is tried again. */
const AGAIN_MS = 5 * 60_000;

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
    this.#alarm = new Alarm(parts.clock, () => this.#open(this.#due()), signal);
  }

  /** Asks for everything once: windows may be others than when it was deferred. */
  start(): void {
    this.#open(this.#parts.deferred.all());
  }

  /** Takes note that something may have been deferred, or settled. */
  note(): void {
    const times = this.#parts.deferred.all()
      .flatMap(({ retryAt }) => retryAt === undefined ? [] : [retryAt.getTime()]);
    this.#alarm.set(times.length === 0 ? undefined : Math.min(...times));
  }

  #due() {
    const now = this.#parts.clock.now();
    return this.#parts.deferred.all().filter(({ retryAt }) => retryAt && retryAt <= now);
  }

  /** One piece of work for each source, however many of its stacks wait. */
  #open(due: readonly (Deferred & { readonly key: StackKey })[]): void {
    const { clock, log, deferred, submit } = this.#parts;
    const again = new Date(clock.now().getTime() + AGAIN_MS);
    const works = new Map<string, Sync>();
    for (const { key, trigger, request } of due) {
      deferred.putOff(key, again);
      const work = { kind: "sync", trigger, origin: "automatic", sources: [request] } as const;
      works.set(`${trigger} ${requestKey(request)}`, work);
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
