import type { TargetDecision } from "../model/mod.ts";

/** Words for a stack that a person holds, with what the end of that does: it may be a removal with all data. */
export function heldWords(
  held: string,
  { decision, isPinned }: {
    /** The last decision about it. */
    readonly decision: Pick<TargetDecision, "reason" | "message"> | undefined;
    /** Whether an earlier release was put back. */
    readonly isPinned: boolean;
  },
): string {
  const last = decision?.reason === "unnamed" ? decision.message : held;
  const said = last.includes(held) ? last : `${held}; ${last}`;
  return said + (isPinned ? PINNED_TOO : "");
}

/** The end of the sentence about a hold of a pinned stack: it does not follow its source when that ends by itself. */
const PINNED_TOO =
  "; an earlier release was put back as well, and stays until a commit with other " +
  "inputs, unpin or resume";
