import { errors, formatStackKey, type StackKey } from "../model/mod.ts";
import type { StackAction } from "./swarm/stack_actions.ts";
import { type Clock, type WatchedLock, withDeadline } from "../system/mod.ts";

/** An action that a person asks for on a project or stack. */
interface Bounded {
  readonly key: StackKey;
  /** Noun for errors: `project`, `stack`. */
  readonly what: string;
  /** Seconds that it may wait for its turn. */
  readonly timeoutSeconds: number;
  /** Whether it ends the preparation of a deployment, as {@link waitsFor} says, in place of waiting for it. */
  readonly isFirst?: boolean;
}

/**
 * The key under which persons wait that are first: how long a commit is prepared is up to its author, and
 * who stops or removes the stack has no use for it.
 */
export function waitsFor(key: StackKey): string {
  return `${formatStackKey(key)}\0person`;
}

/** What actions on a project or stack wait with. */
export interface LockParts {
  readonly clock: Clock;
  readonly stackLock: Pick<WatchedLock, "run" | "ending">;
  /** Waits until no other process is changing a stack: the lock is this process's. */
  readonly othersDone: (key: StackKey, signal: AbortSignal) => Promise<void>;
  /** The question whether what was found of a stack at a mark still holds; see `Ledger.isStill`. */
  readonly ledger: {
    mark(key: StackKey): string;
    isStill(key: StackKey, since: string): boolean;
  };
  /** The work that has a stack's lock, for people, where that is known. */
  readonly underWay?: (key: StackKey) => string | undefined;
  /** Does work on a stack that only the end of this process ends, and that can be told. Throws `shutting_down`. */
  readonly change: <T>(key: StackKey, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Does what a person asks of what is there until a hand-over ends it, and reports how it ends. */
  readonly told: <T>(
    key: StackKey,
    action: AskedAction,
    work: (owned: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ) => Promise<T>;
}

/** Actions on a project as a whole. */
export const PROJECT_ACTIONS = ["start", "stop", "restart"] as const;

/** One member of {@link PROJECT_ACTIONS}. */
export type ProjectAction = (typeof PROJECT_ACTIONS)[number];

/** What a person asks for on what runs. */
export type AskedAction = ProjectAction | StackAction | "remove";

/**
 * Runs work while it holds a stack's lock, and no other process changes the stack. The caller's signal and
 * the time limit bound the wait for that alone: work that has begun runs to its end, whoever waits for it,
 * since half of it would stay. Where the stack was changed since the looks before it, or the work says `moved`
 * as it finds that itself, all is begun anew. Returns and throws what the work does, and throws `timeout` before it.
 */
export async function withinLock<Result, Ready = void>(
  { clock, stackLock, othersDone, ledger, change, underWay }: LockParts,
  { key, what, timeoutSeconds, isFirst = false, ready }: Bounded & {
    /** Looks before the work that are bounded as the wait is, and record nothing: the work may be refused. */
    readonly ready?: (waiting: AbortSignal) => Promise<Ready>;
  },
  work: (signal: AbortSignal, found: Ready, since: string) => Promise<Result | "moved">,
  signal: AbortSignal,
): Promise<Result> {
  const late = () => {
    const who = underWay?.(key) ?? "a deployment of it, a scheduled job or another action";
    return errors.timeout(
      `${what} ${key.name}: nothing was done: ${who} was under way for all of the ` +
        `${timeoutSeconds} s; ask again later, or with a larger timeout`,
    );
  };
  const turn = Promise.withResolvers<void>();
  if (isFirst) void stackLock.ending([waitsFor(key)], () => turn.promise);
  const run = (waiting: AbortSignal) =>
    stackLock.run(formatStackKey(key), async () => {
      turn.resolve();
      for (;;) {
        await othersDone(key, waiting);
        waiting.throwIfAborted();
        const since = ledger.mark(key);
        const found = await ready?.(waiting) as Ready;
        const act = async (within: AbortSignal) =>
          ledger.isStill(key, since) ? await work(within, found, since) : "moved";
        const [end] = await Promise.allSettled([change(key, act)]);
        if (end.status === "rejected") return end;
        if (end.value !== "moved") return { ...end, value: end.value };
      }
    }, waiting);
  const limit = { clock, milliseconds: timeoutSeconds * 1000, late };
  // The work's own failure is kept apart from that of the wait.
  const end = await withDeadline(limit, run, signal).finally(turn.resolve);
  if (end.status === "rejected") throw end.reason;
  return end.value;
}
