import type { Engine } from "../docker/engine.ts";
import { formatStackKey, type ObservedStack, type StackKey } from "../model/mod.ts";
import type { Clock, WatchedLock } from "../system/mod.ts";
import { observe, observeAll, type StackPlace } from "./observe.ts";

/** A shared look at the stacks of one piece of work. */
export interface Glance {
  /**
   * What runs for a stack, whose lock the caller holds: seen after the piece of work began, not long
   * ago, and with nothing that we did to the stack in between.
   */
  observe(stack: StackPlace, signal: AbortSignal): Promise<ObservedStack>;
}

/** From how many stacks on one call for all containers is better than one for those of each. */
const LEAST_STACKS = 4;
/** How old what was seen may be, in milliseconds: others than us change containers, too. */
const OLDEST_MS = 2_000;

interface GlanceParts {
  readonly host: { readonly engine: Engine };
  readonly stackLock: Pick<WatchedLock, "mark" | "wasReleasedSince">;
  readonly clock: Clock;
  /** Says when the release of a stack became healthy. */
  readonly ledger: {
    current(key: StackKey): { readonly finishedAt?: Date | undefined } | undefined;
  };
}

interface Seen {
  readonly at: number;
  readonly mark: number;
  readonly stacks: Promise<ReadonlyMap<string, ObservedStack>>;
}

/** The containers that run for a target now. Whoever asks holds the stack's lock. */
export async function look(
  { host: { engine } }: Pick<GlanceParts, "host">,
  { key, swarm, glance }: StackPlace & { readonly glance?: Glance },
  signal: AbortSignal,
): Promise<ObservedStack> {
  const stack = { key, ...(swarm === undefined ? {} : { swarm }) };
  return await (glance?.observe(stack, signal) ?? observe(engine, stack, signal));
}

/**
 * Looks at `count` stacks, all at once where there are many, so that a pass in which nothing changed
 * costs one call of the engine. It is made for one piece of work and not kept.
 */
export function createGlance(
  { host: { engine }, stackLock, ledger, clock }: GlanceParts,
  count: number,
): Glance {
  let seen: Seen | undefined;
  const look = (signal: AbortSignal): Seen => {
    const at = clock.now().getTime();
    if (seen !== undefined && at - seen.at <= OLDEST_MS) return seen;
    const fresh = { at, mark: stackLock.mark(), stacks: observeAll(engine, signal) };
    // Whoever comes later asks again, rather than fail for this one's bad luck.
    fresh.stacks.catch(() => seen = seen === fresh ? undefined : seen);
    return seen = fresh;
  };
  return {
    async observe(stack, signal) {
      const { key, swarm } = stack;
      if (count < LEAST_STACKS || swarm !== undefined) return await observe(engine, stack, signal);
      const { at, mark, stacks } = look(signal);
      const found = await stacks;
      const wasChanged = stackLock.wasReleasedSince(formatStackKey(key), mark) ||
        // A command in another process has locks of its own, and the same ledger.
        (ledger.current(key)?.finishedAt?.getTime() ?? 0) >= at;
      if (wasChanged) return await observe(engine, stack, signal);
      return found.get(key.name) ?? { containers: [] };
    },
  };
}

/** The glance for a stack, by parts with its host. */
export type Glances = (parts: GlanceParts, key: Pick<StackKey, "context">) => Glance;

/** One look at the containers of each engine, for stacks in these `contexts`. */
export function glancesOf(contexts: readonly string[]): Glances {
  const made = new Map<string, Glance>();
  return (parts, { context }) => {
    const count = contexts.filter((each) => each === context).length;
    const glance = made.get(context) ?? createGlance(parts, count);
    made.set(context, glance);
    return glance;
  };
}
