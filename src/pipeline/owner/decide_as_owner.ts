import { clearHalfReplaced } from "../../deploy/mod.ts";
import { formerOwner } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { RecordedRelease } from "../../record/ledger.ts";
import { recordedOwner } from "../../record/mod.ts";
import { decideTarget } from "../decide_target.ts";
import type { Decision } from "../decision.ts";
import type { PipelineParts } from "../parts.ts";
import { endOthersRuns } from "./end_others_runs.ts";

/**
 * Decides about a target as {@link decideTarget} does. What its stack's former owner left under way ends also
 * where nothing is deployed for the new one, whose files may be those that run: a rollout ends it otherwise.
 */
export async function decideAsOwner(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  const runs = parts.ledger.current(target.key);
  const decision = await decideTarget(parts, target, signal);
  const isAsWanted = decision.kind === "skip" && decision.plan.reason === "no_changes";
  if (isAsWanted && runs !== undefined) await clearFormers(parts, runs, signal);
  return decision;
}

/**
 * The end of what a stack's former owner has left under way: runs of jobs and, until the release that `runs`
 * is the new owner's, hooks and containers that were to replace others.
 */
async function clearFormers(
  parts: PipelineParts,
  runs: RecordedRelease,
  signal: AbortSignal,
): Promise<void> {
  const owner = recordedOwner(parts.ledger, runs.key);
  if (owner?.adopted !== true) return;
  await endOthersRuns(parts, runs, signal);
  if (formerOwner(runs, owner) === undefined) return;
  await clearHalfReplaced(parts.host.engine, runs.key, signal);
}
