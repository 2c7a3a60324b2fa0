import {
  errors,
  formatStackKey,
  formerOwner,
  messageOf,
  type Progress,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { chooseRelease, type Pin, recordedOwner, requireDeployedHere } from "../record/mod.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { carryOutTold, lost, prepareAgain, tellerOf } from "./rollout/deploy_again.ts";
import { type Begin, untilAsked } from "./decide/until_asked.ts";
import { requireModeOf } from "./stack_mode.ts";
import { asItsOwner, untilSettled, waitForStack } from "./waits.ts";

/** Newest releases among which the one that the pin refuses is looked for. */
const MOST_LOOKED_AT = 100;

/** A person's request to roll back. */
interface RollbackRequest {
  /** Number of a release in the history; by default, the good one before the current. */
  readonly number: number | undefined;
  /** Reason given by the person; may be empty. */
  readonly reason: string;
  readonly progress: Progress;
  /** Listeners besides those of the pipeline, such as the record of a run. */
  readonly listeners?: readonly TargetListener[];
}

/**
 * Deploys a recorded release again, from the ledger and the disk, and pins it: updates leave the
 * stack alone until a commit with other inputs than the one it was rolled back from arrives. What the
 * current release added goes; other orphans stay where its deployment says so. Waits for a process
 * that is changing the stack, and for running jobs as its deployment does. Nothing that runs is touched before
 * files and images are there.
 *
 * Throws `not_found` when there is no such release, `timeout` where a job still runs after its `timeout`, `conflict` when it is a former owner's or another
 * repository's, or another context of its engine has deployed the stack since, `source_invalid` when
 * its files cannot be had, `deploy_failed` when it does not become healthy; then what ran before is
 * restored.
 */
export async function rollBack(
  anyParts: PipelineParts,
  key: StackKey,
  request: RollbackRequest,
  signal: AbortSignal,
): Promise<void> {
  const parts = await partsFor(anyParts, key, signal);
  const goBack = async () => {
    await waitForStack(parts, key, request.progress, signal);
    const asked = attempt.bind(null, parts, key, request);
    const work = (within: AbortSignal) => untilAsked(parts, key, asked, within);
    return await asItsOwner(parts, key, work, signal);
  };
  const settled = () => untilSettled(parts, key, goBack, signal);
  await parts.stackLock.run(formatStackKey(key), settled, signal);
}

/** Rolls back a stack whose lock is held; `moved` when another process changed it meanwhile. */
async function attempt(
  parts: PipelineParts,
  key: StackKey,
  { number, reason, progress, listeners = [] }: RollbackRequest,
  signal: AbortSignal,
  begin: Begin,
): Promise<"done" | "moved"> {
  const since = parts.ledger.mark(key);
  requireDeployedHere(parts.ledger, key, "rolled back");
  const { current, wanted } = chooseRelease(parts.ledger, key, number);
  requireModeOf(key, wanted, current);
  const undone = parts.ledger.services(current);
  const { removeOrphans } = parts.ledger.reconciliations.forReleases(key);
  const why = {
    kind: "put_back",
    deployed: undone,
    removeOrphans,
    images: wanted.images,
    ran: current.images,
  } as const;
  const ready = await prepareAgain(parts, wanted, { why, progress }, signal);
  if (ready === undefined) {
    throw errors.source_invalid(`${lost(wanted)}: it cannot be put back`);
  }
  const { message } = ready.plan;
  // The pin is recorded with the intent: a poll in between would undo the rollback.
  const pin = await pinTo(parts, { wanted, current, reason }, signal);
  const teller = tellerOf([...parts.listeners, ...listeners], wanted, "rollback");
  const because = reason === "" ? "" : ` (${reason})`;
  const hasFailed = wanted.status === "failed" || wanted.status === "rolled_back";
  const failed = hasFailed ? ", which failed before" : "";
  const work = { ...ready, removeOrphans, undone, since, pin };
  begin();
  return await carryOutTold(parts, teller, work, {
    wanted,
    decided: `back to release ${wanted.number}${failed}${because}: ${message}`,
    done: `release ${wanted.number} again: ${message}`,
    doing: `rolling ${key.name} back`,
  }, signal);
}

/** The pin that holds a stack at `wanted`, which replaces the current release. */
async function pinTo(
  parts: PipelineParts,
  { wanted, current, reason }: Record<"wanted" | "current", RecordedRelease> & { reason: string },
  signal: AbortSignal,
): Promise<Pin> {
  const revision = await newestRevision(parts, current, signal);
  const owner = recordedOwner(parts.ledger, wanted.key);
  // A former owner may have deployed the same commit in another way.
  const refused = parts.ledger.history(wanted.key, MOST_LOOKED_AT)
    .find((each) => each.revision.id === revision && formerOwner(each, owner) === undefined);
  return {
    releaseId: wanted.id,
    revision,
    ...(refused && { refused: { digest: refused.digest, closure: parts.ledger.closure(refused) } }),
    pinnedAt: parts.clock.now(),
    ...(reason === "" ? {} : { reason }),
  };
}

/**
 * The commit that must not be deployed again by itself after a rollback: the newest one of the
 * reference; the deployed one when the source does not answer.
 */
async function newestRevision(parts: PipelineParts, current: RecordedRelease, signal: AbortSignal) {
  const { source: location, reference, id } = current.revision;
  try {
    const depth = parts.options.cloneDepth;
    return (await parts.source.resolve({ location, reference, depth }, signal)).id;
  } catch (error) {
    signal.throwIfAborted();
    parts.log.warning(`the newest commit of ${reference} is not known: ${messageOf(error)}`);
    return id;
  }
}
