import type { Limiter, Slot } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { preparing } from "../waits.ts";

/**
 * Does work as {@link preparing} does, for who holds a stack's `lock` in turn: with the slot it lends that, as what
 * it waits for may take hours, and what runs is to be repaired, started and stopped meanwhile.
 *
 * What holds: nothing of a stack is changed, and no decision carried out, but under its lock; it is lent in here
 * alone, where nothing is changed, and held again when this returns. Repairs, persons, rollbacks and jobs may have
 * had it by then: what was found before is out of date, if it `wasReleasedSince`, and the caller decides
 * again. What comes from configurations, deployments and removals, waits for its turn, which is never lent. So a
 * stack has one preparation at a time, and one change.
 */
export async function lendingLock<T>(
  parts: PipelineParts,
  { holder, lock }: {
    readonly holder: Parameters<typeof preparing>[1];
    /** Absent where the stack is not lent. */
    readonly lock: Slot | undefined;
  },
  work: (parts: PipelineParts) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (lock === undefined) return await preparing(parts, holder, work, signal);
  let isOver = false;
  const withLock = (slot: Slot): Slot => ({
    leave() {
      slot.leave();
      if (!isOver) lock.leave();
    },
    async takeAgain(within) {
      // In this order: a change of the stack may take long, and other stacks need the slot.
      await lock.takeAgain(within);
      await slot.takeAgain(within);
    },
  });
  const limiter: Limiter = {
    run: (inside, ...rest) => parts.preparing.run((slot) => inside(withLock(slot)), ...rest),
  };
  try {
    return await preparing({ ...parts, preparing: limiter }, holder, work, signal);
  } finally {
    isOver = true;
    await lock.takeAgain(signal);
  }
}
