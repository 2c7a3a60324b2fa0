import type { Clock } from "../system/mod.ts";

/** Milliseconds without a request after which a burst of them is over. */
export const QUIET_MS = 50;
/** Milliseconds after which work begins although requests have not stopped coming. */
export const LONGEST_BURST_MS = 500;

/**
 * Tells a single request from a burst. Work starts programs, which take the processors from whoever
 * waits for an answer; so in a burst it waits until the answers are given, and what asks for the
 * same becomes one. A request that comes alone waits for nothing.
 */
export interface Pace {
  /** Notes a request; says whether it is the first one, whose work may begin at once. */
  arrive(): boolean;
  /** Resolves when the burst is over, at once when there is none, or when `signal` aborts. */
  calm(signal: AbortSignal): Promise<void>;
}

/**
 * Makes a pace. `signal` ends its timer, and whatever burst there is; with no milliseconds of quiet
 * there are no bursts.
 */
export function createPace(clock: Clock, signal: AbortSignal, quietMs: number = QUIET_MS): Pace {
  let requests = 0;
  let burst: Promise<void> | undefined;
  const untilQuiet = async () => {
    for (let waited = 0; waited < LONGEST_BURST_MS; waited += quietMs) {
      const before = requests;
      await clock.sleep(quietMs, signal);
      if (requests === before) return;
    }
  };
  return {
    arrive() {
      requests++;
      if (burst !== undefined) return false;
      if (quietMs > 0) burst = untilQuiet().catch(() => {}).finally(() => burst = undefined);
      return true;
    },
    async calm(client) {
      if (burst === undefined || client.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const onAbort = () => resolve();
      client.addEventListener("abort", onAbort, { once: true });
      await Promise.race([burst, promise]);
      client.removeEventListener("abort", onAbort);
    },
  };
}
