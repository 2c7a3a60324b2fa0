import type { Clock } from "../system/mod.ts";

/** Milliseconds without a request that end a burst. */
export const QUIET_MS = 50;
/** Milliseconds after which work begins even if requests keep coming. */
export const LONGEST_BURST_MS = 500;
/** Milliseconds within which requests arrive that were sent together. */
export const MOMENT_MS = 1;

/** How long to wait: `moment` to see whether more requests come, `end` for the end of the burst. */
export type Calm = "moment" | "end";

/**
 * Tells single requests from bursts. Work starts programs, which would take processors from clients
 * that wait for answers; so in a burst it waits until all are answered, and equal requests become
 * one. A single request waits for a moment only.
 */
export interface Pace {
  /** Notes a request; returns what its work has to wait for. */
  arrive(): Calm;
  /** Resolves when the wait is over, at once without a burst, or when `signal` aborts. */
  calm(calm: Calm, signal: AbortSignal): Promise<void>;
}

interface Burst {
  /** Resolves after a moment to whether more requests came. */
  readonly others: Promise<boolean>;
  readonly over: Promise<void>;
}

/** Makes a pace. `signal` ends its timers and any burst; with `quietMs` 0 there are no bursts. */
export function createPace(clock: Clock, signal: AbortSignal, quietMs: number = QUIET_MS): Pace {
  let requests = 0;
  let burst: Burst | undefined;
  const more = async (milliseconds: number) => {
    const before = requests;
    await clock.sleep(milliseconds, signal);
    return requests > before;
  };
  const untilQuiet = async () => {
    for (let waited = 0; waited < LONGEST_BURST_MS; waited += quietMs) {
      if (!await more(quietMs)) return;
    }
  };
  const begin = (): Burst => ({
    others: more(MOMENT_MS).catch(() => false),
    over: untilQuiet().catch(() => {}).finally(() => burst = undefined),
  });
  return {
    arrive() {
      requests++;
      if (burst !== undefined) return "end";
      if (quietMs > 0) burst = begin();
      return "moment";
    },
    async calm(calm, client) {
      if (burst === undefined || client.aborted) return;
      const { others, over } = burst;
      const { promise, resolve } = Promise.withResolvers<void>();
      const onAbort = () => resolve();
      client.addEventListener("abort", onAbort, { once: true });
      const wait = calm === "end" ? over : others.then((came) => came ? over : undefined);
      await Promise.race([wait, promise]);
      client.removeEventListener("abort", onAbort);
    },
  };
}
