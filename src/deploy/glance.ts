import type { Engine } from "../docker/engine.ts";
import { formatStackKey, type ObservedStack, type StackKey } from "../model/mod.ts";
import type { Clock, WatchedLock } from "../system/mod.ts";
import { observe, observeAll, requireFew, type StackPlace } from "./observe.ts";

/** Shared observations of stacks during one piece of work. */
export interface Glance {
  /**
   * What runs for a stack whose lock the caller holds. The observation is recent, was made after
   * the piece of work began, and nothing of ours changed the stack since.
   */
  observe(stack: StackPlace, signal: AbortSignal): Promise<ObservedStack>;
}

/** Number of stacks from which one call for all containers is better than a call for each stack. */
const LEAST_STACKS = 4;
/** Greatest age of an observation in milliseconds: others change containers, too. */
const OLDEST_MS = 2_000;

interface GlanceParts {
  readonly host: { readonly engine: Engine };
  readonly stackLock: Pick<WatchedLock, "mark" | "wasReleasedSince">;
  readonly clock: Clock;
  /** Knows when the last deployment of a stack finished. */
  readonly ledger: {
    current(key: StackKey): { readonly finishedAt?: Date | undefined } | undefined;
  };
}

interface Seen {
  readonly at: number;
  readonly mark: number;
  /** The signal of who asked first, which may end the look. */
  readonly by: AbortSignal;
  readonly stacks: Promise<ReadonlyMap<string, ObservedStack>>;
}

/** What runs for a target now. The caller holds the stack's lock. */
export async function look(
  { host: { engine } }: Pick<GlanceParts, "host">,
  { key, swarm, glance }: StackPlace & { readonly glance?: Glance },
  signal: AbortSignal,
): Promise<ObservedStack> {
  const stack = { key, ...(swarm === undefined ? {} : { swarm }) };
  return await (glance?.observe(stack, signal) ?? observe(engine, stack, signal));
}

/**
 * Observes `count` stacks, by one call of the engine when there are many, so that a pass without
 * changes stays cheap. Made for one piece of work and not kept.
 */
export function createGlance(
  { host: { engine }, stackLock, ledger, clock }: GlanceParts,
  count: number,
): Glance {
  let seen: Seen | undefined;
  const look = (signal: AbortSignal): Seen => {
    const at = clock.now().getTime();
    if (seen !== undefined && at - seen.at <= OLDEST_MS) return seen;
    const stacks = observeAll(engine, signal);
    const fresh = { at, mark: stackLock.mark(), by: signal, stacks };
    // After a failure the next caller asks the engine again.
    fresh.stacks.catch(() => seen = seen === fresh ? undefined : seen);
    return seen = fresh;
  };
  return {
    async observe(stack, signal) {
      const { key, swarm } = stack;
      if (count < LEAST_STACKS || swarm !== undefined) return await observe(engine, stack, signal);
      const { at, mark, by, stacks } = look(signal);
      const found = await stacks.catch((error) => {
        // Somebody wants the first asker's stack stopped, not this one.
        if (by.aborted && !signal.aborted) return undefined;
        throw error;
      });
      const wasChanged = stackLock.wasReleasedSince(formatStackKey(key), mark) ||
        // A command in another process has locks of its own, but shares the ledger.
        (ledger.current(key)?.finishedAt?.getTime() ?? 0) >= at;
      if (found === undefined || wasChanged) return await observe(engine, stack, signal);
      return requireFew(key, found.get(key.name) ?? { containers: [] });
    },
  };
}

/** Provider of the glance for a stack's context. */
export type Glances = (parts: GlanceParts, key: Pick<StackKey, "context">) => Glance;

/** Provider of one glance per context; `contexts` has the context of each stack of the work. */
export function glancesOf(contexts: readonly string[]): Glances {
  const made = new Map<string, Glance>();
  return (parts, { context }) => {
    const count = contexts.filter((each) => each === context).length;
    return made.getOrInsertComputed(context, () => createGlance(parts, count));
  };
}
