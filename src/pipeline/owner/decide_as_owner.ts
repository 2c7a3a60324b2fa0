import type { Revision } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { decideTarget, held } from "../decide_target.ts";
import { type Decision, waiting } from "../decision.ts";
import { overtakenBy } from "../destroy/is_newer.ts";
import type { PipelineParts } from "../parts.ts";
import { isAway } from "../resolve_revision.ts";
import { isStrangers } from "../stack_owner.ts";
import { clearHandOver } from "./clear_hand_over.ts";

/**
 * Decides about a target as {@link decideTarget} does. What a former owner of its stack has left ends first,
 * whatever is decided then: a hold, a closed window or an image that fails is no reason to let it go on.
 *
 * Nothing is decided by a commit instead of which another run has found a newer one while this one waited, for a
 * lock, a removal or another repository's host: that would undo what the newer commit or a person did meanwhile.
 */
export async function decideAsOwner(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  // Whose the stack is depends on what the engine says that it is.
  await parts.host.info(signal);
  const { key } = target;
  try {
    const newer = await overtakenBy(parts, lateOf(parts, target), signal);
    if (newer !== undefined) return waiting(newer);
  } catch (error) {
    signal.throwIfAborted();
    if (!isAway(error)) throw error;
    // While nobody can tell, what is deployed is still repaired.
    const services = [] as const;
    return await held(
      parts,
      target,
      { reason: "superseded", message: error.message, services },
      signal,
    );
  }
  const isLeft = parts.ledger.owners.toClear(key) > 0 && !isStrangers(parts, target);
  const clears = isLeft && await clearHandOver(parts, key, signal);
  // Without the glance that the run's stacks share: it may have been before that.
  const { glance: _early, ...later } = target;
  return await decideTarget(parts, clears ? later : target, signal);
}

/**
 * The revisions of a target instead of which another run may have found newer ones. None of a source that has no part
 * in the stack: how long it takes to answer is up to it, and the stack's lock is held meanwhile.
 */
function lateOf(
  parts: Pick<PipelineParts, "ledger" | "newest">,
  target: Target,
): readonly Revision[] {
  const { key, configuration, revision } = target;
  const late = parts.newest.overtaken([configuration, revision]);
  if (late.length === 0 || isStrangers(parts, target)) return [];
  const from = parts.ledger.current(key)?.revision.source.name ?? revision.source.name;
  return late.filter((each) => each === configuration || each.source.name === from);
}
