import { waitsFor } from "../../deploy/mod.ts";
import { errors, type StackKey } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** Says that the stack is changed from now on, which is done to its end. Throws what ended the work. */
export type Begin = () => void;

/**
 * Does work that prepares a change of a stack, until a person waits to stop or remove that: how long images,
 * sources and jobs are waited for is up to their authors. What has called `begin` goes on.
 *
 * Throws `conflict` when it was ended so, and what it throws.
 */
export function untilAsked<T>(
  { stackLock }: Pick<PipelineParts, "stackLock">,
  key: StackKey,
  work: (within: AbortSignal, begin: Begin) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const waiting = waitsFor(key);
  let hasBegun = false;
  const asked = () =>
    errors.conflict(
      `a person stops or removes ${key.name}: what was prepared for it meanwhile was given up, and ` +
        "nothing of that is deployed; the next poll, webhook or request tries again",
    );
  const isOver = () => !hasBegun && stackLock.isEnding(waiting) ? asked() : undefined;
  const begun = (within: AbortSignal) =>
    work(within, () => {
      within.throwIfAborted();
      hasBegun = true;
    });
  return stackLock.endable({ keys: [waiting], isOver, work: begun }, signal);
}
