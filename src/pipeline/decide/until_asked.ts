import { waitsFor } from "../../deploy/mod.ts";
import { errors, type StackKey } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { preparing } from "../waits.ts";

/**
 * Runs work that only reads and prepares, as {@link preparing} does, until a person waits for the stack to
 * stop or remove it: how long the work takes is up to the author of what is prepared.
 *
 * Throws `conflict` when it was ended so, and what it throws.
 */
export function untilAsked<T>(
  parts: PipelineParts,
  holder: Parameters<typeof preparing>[1] & { readonly key: StackKey },
  work: (parts: PipelineParts, within: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { key } = holder;
  const waiting = waitsFor(key);
  const asked = () =>
    errors.conflict(
      `a person stops or removes ${key.name}: what was prepared for it meanwhile was given up, and ` +
        "nothing of that is deployed; the next poll or webhook tries again",
    );
  const prepare = (within: AbortSignal) =>
    preparing(parts, holder, (lending) => work(lending, within), within);
  const isOver = () => parts.stackLock.isEnding(waiting) ? asked() : undefined;
  return parts.stackLock.endable({ keys: [waiting], isOver, work: prepare }, signal);
}
