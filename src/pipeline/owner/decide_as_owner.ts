import type { Target } from "../../prepare/mod.ts";
import { decideTarget } from "../decide_target.ts";
import type { Decision } from "../decision.ts";
import type { PipelineParts } from "../parts.ts";
import { isStrangers } from "../stack_owner.ts";
import { clearHandOver } from "./clear_hand_over.ts";

/**
 * Decides about a target as {@link decideTarget} does. What a former owner of its stack has left ends first,
 * whatever is decided then: a hold, a closed window or an image that fails is no reason to let it go on.
 */
export async function decideAsOwner(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  // Whose the stack is depends on what the engine says that it is.
  await parts.host.info(signal);
  const { key } = target;
  const isLeft = parts.ledger.owners.toClear(key) > 0 && !isStrangers(parts, target);
  const clears = isLeft && await clearHandOver(parts, key, signal);
  // Without the glance that the run's stacks share: it may have been before that.
  const { glance: _early, ...later } = target;
  return await decideTarget(parts, clears ? later : target, signal);
}
