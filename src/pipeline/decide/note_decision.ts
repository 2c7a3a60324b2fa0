import type { SourceRequest } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { type Decision, holdOf } from "../decision.ts";
import type { PipelineParts } from "../parts.ts";
import { settleReconciliation } from "../reconcile.ts";
import { noteDiscovered } from "../remove_obsolete.ts";
import { settleOwner } from "../stack_owner.ts";
import { noteDeferred } from "../sync_gate.ts";

/** A target, the request that names it, and that of the webhook behind it, where this is about another branch. */
interface Decided {
  readonly target: Target;
  readonly request: SourceRequest;
  readonly pushed?: SourceRequest | undefined;
}

/**
 * Records what a decision means for discovery, deferral, ownership and reconciliation: nothing, where it is left to
 * the run of a newer commit, which may have recorded something.
 */
export function noteDecision(
  parts: PipelineParts,
  { target, request, pushed = request }: Decided,
  decision: Decision,
): void {
  const { configuration, revision } = target;
  const isLeft = decision.kind === "skip" && decision.plan.reason === "superseded" &&
    parts.newest.overtaken([configuration, revision]).length > 0;
  if (isLeft) return;
  const isAsWanted = decision.kind === "skip" && decision.plan.reason === "no_changes";
  noteDiscovered(parts, { target, request }, decision);
  if (isAsWanted || decision.kind === "deploy") settleOwner(parts, target);
  // After that, since an owner's decision settles what others asked for.
  noteDeferred(parts, { target, request: pushed }, holdOf(decision));
  if (isAsWanted) settleReconciliation(parts, target);
}
