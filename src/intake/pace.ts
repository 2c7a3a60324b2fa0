import type { Clock } from "../system/mod.ts";

/** Milliseconds without a request after which a burst of them is over. */
export const QUIET_MS = 50;
/** Milliseconds after which work begins although requests have not stopped coming. */
export const LONGEST_BURST_MS = 500;
/** Milliseconds in which those that were sent together with the first one are here, too. */
export const MOMENT_MS = 1;

/** What work waits for: that no other request comes with its own, or that none comes any more. */
export type Calm = "moment" | "end";

/**
 * Tells a single request from a burst. Work starts programs, which take the processors from whoever
 * waits for an answer; so in a burst it waits until the answers are given, and what asks for the
 * same becomes one. A request that comes alone waits for a moment.
 */
export interface Pace {
  /** Notes a request; says what its work waits for. */
  arrive(): Calm;
  /** Resolves when it is as calm as that, at once when there is no burst, or when `signal` aborts. */
  calm(calm: Calm, signal: AbortSignal): Promise<void>;
}

interface Burst {
  /** Says after a moment whether others came. */
  readonly others: Promise<boolean>;
  readonly over: Promise<void>;
}

/**
 * Makes a pace. `signal` ends its timer, and whatever burst there is; with no milliseconds of quiet
 * there are no bursts.
 */
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
