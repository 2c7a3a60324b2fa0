import { imagesPresent, observe, type ReleaseOnDisk } from "../deploy/mod.ts";
import {
  errors,
  formatStackKey,
  formerOwner,
  messageOf,
  type ObservedStack,
  type Plan,
  type Progress,
  type StackKey,
  type TargetEnd,
  type TargetListener,
} from "../model/mod.ts";
import { otherImages, planFor, type Why } from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { chooseRelease, notOwners, type Pin, recordedOwner } from "../record/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import { carryOut, type MarkedRollout } from "./carry_out.ts";
import { endOf } from "./decision.ts";
import { tellingOthers } from "./owner/others_release.ts";
import { bringToDisk } from "./placed_files.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { requireImages, requireNoClash, requireNotOwnProject, stage } from "../prepare/mod.ts";
import { pointImages, requireModeOf } from "./stack_mode.ts";
import { asItsOwner, learnedSoon, waitForProcess, waitForStack } from "./waits.ts";

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
 * stack alone until a commit with other inputs than the one it was rolled back from arrives. Waits
 * for a process that is changing the stack. Nothing that runs is touched before files and images
 * are there.
 *
 * Throws `not_found` when there is no such release, `conflict` when it is a former owner's or another
 * repository's, `source_invalid` when its files cannot be had,
 * `deploy_failed` when it does not become healthy; then what ran before is restored.
 */
export async function rollBack(
  anyParts: PipelineParts,
  key: StackKey,
  request: RollbackRequest,
  signal: AbortSignal,
): Promise<void> {
  const parts = await partsFor(anyParts, key, signal);
  await parts.stackLock.run(formatStackKey(key), async () => {
    for (;;) {
      await waitForStack(parts, key, request.progress, signal);
      const work = (within: AbortSignal) => attempt(parts, key, request, within);
      if (await asItsOwner(parts, key, work, signal) === "done") return;
    }
  }, signal);
}

/** Rolls back a stack whose lock is held; `undefined` when another process changed it meanwhile. */
async function attempt(
  parts: PipelineParts,
  key: StackKey,
  { number, reason, progress, listeners = [] }: RollbackRequest,
  signal: AbortSignal,
): Promise<"done" | undefined> {
  const since = parts.ledger.mark(key);
  const { current, wanted } = chooseRelease(parts.ledger, key, number);
  requireModeOf(key, wanted, current);
  const why = {
    kind: "put_back",
    deployed: parts.ledger.services(current),
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
  return await carryOutTold(parts, teller, { ...ready, removeOrphans: true, since, pin }, {
    wanted,
    decided: `back to release ${wanted.number}${failed}${because}: ${message}`,
    done: `release ${wanted.number} again: ${message}`,
    doing: `rolling ${key.name} back`,
  }, signal);
}

/** The teller of a person's request for a recorded release. */
function tellerOf(
  listeners: readonly TargetListener[],
  { key, revision }: RecordedRelease,
  trigger: "rollback" | "project",
): Teller {
  const told = { key, repository: revision.source.name, trigger, origin: "manual" } as const;
  return createTeller(listeners, told, revision);
}

/**
 * Recreates containers of a stack from its deployed release, as a person asked: those of one
 * service, or all. Brings back what else is missing of the release, also in a stopped stack. The
 * caller holds the stack's lock. Waits for a process that is changing the stack until `waiting`
 * aborts. Nothing that runs is touched before files and images are there.
 *
 * Throws `conflict` when there is no such release, or its files cannot be had; `not_found` for an
 * unknown service; `deploy_failed` when the release does not become healthy.
 */
export async function recreate(
  parts: PipelineParts,
  key: StackKey,
  { service, waiting }: { readonly service: string | undefined; readonly waiting: AbortSignal },
  signal: AbortSignal,
): Promise<void> {
  await requireNotOwnProject(parts.host, key, signal);
  for (;;) {
    await waitForProcess(parts, key, () => {}, waiting);
    await learnedSoon(parts, key, signal);
    const work = (within: AbortSignal) => attemptAnew(parts, key, service, within);
    if (await asItsOwner(parts, key, work, signal) === "done") return;
  }
}

async function attemptAnew(
  parts: PipelineParts,
  key: StackKey,
  service: string | undefined,
  signal: AbortSignal,
): Promise<"done" | undefined> {
  const since = parts.ledger.mark(key);
  const { wanted, asked } = askedAnew(parts, key, service);
  const teller = tellerOf(parts.listeners, wanted, "project");
  const progress = (text: string) => teller.tell({ kind: "step", text });
  const why = { kind: "recreated", asked } as const;
  const ready = await prepareAgain(parts, wanted, { why, progress }, signal);
  if (ready === undefined) {
    throw errors.conflict(`${lost(wanted)}: ${ANEW_BY_SOURCE}`);
  }
  const { message } = ready.plan;
  const work = { ...ready, removeOrphans: false, remembers: false, since };
  return await carryOutTold(parts, teller, work, {
    wanted,
    decided: `a person asked for it over the API: ${message}`,
    done: `release ${wanted.number} again: ${message}`,
    doing: `making containers of ${key.name} anew`,
  }, signal);
}

/** The release to recreate containers from, and the services to recreate. */
function askedAnew({ ledger }: PipelineParts, key: StackKey, service: string | undefined) {
  const wanted = ledger.current(key);
  if (wanted === undefined || wanted.swarm !== undefined) {
    throw errors.conflict(
      `${key.name} has no release of containers that was deployed from here: ${ANEW_BY_SOURCE}`,
    );
  }
  const others = notOwners(ledger, wanted);
  if (others !== undefined) {
    throw errors.conflict(`nothing of ${key.name} was recreated: ${others}`);
  }
  const names = ledger.services(wanted).map((each) => each.name);
  if (service !== undefined && !names.includes(service)) {
    throw errors.not_found(`service not found: ${key.name}/${service}`, {
      told: "service not found",
      problems: [{ file: "request", message: `the release has the services ${names.join(", ")}` }],
    });
  }
  return { wanted, asked: service === undefined ? names : [service] };
}

const ANEW_BY_SOURCE = "a deployment with force_recreate: true makes its containers anew";

/** Text that says that the files of a release are gone. */
function lost({ number, key }: RecordedRelease): string {
  return `release ${number} of ${key.name}: its files are neither on disk nor in the mirror`;
}

/** A recorded release that is ready to be rolled out again. */
interface ReadyAgain {
  readonly onDisk: ReleaseOnDisk;
  readonly observed: ObservedStack;
  readonly plan: Plan;
  /** Images that the release ran and that are still on the engine; in a swarm, all that it ran. */
  readonly images: Readonly<Record<string, string>>;
}

/** Files, images and plan of a recorded release; `undefined` when its files are lost. */
async function prepareAgain(
  parts: PipelineParts,
  wanted: RecordedRelease,
  { why, progress }: { readonly why: Why; readonly progress: Progress },
  signal: AbortSignal,
): Promise<ReadyAgain | undefined> {
  const { images } = wanted;
  const onDisk = await bringToDisk(parts, wanted, signal);
  if (onDisk === undefined) return undefined;
  progress("looking at what runs");
  await pointImages(parts, onDisk.release, images, signal);
  const observed = await observe(parts.host.engine, wanted, signal);
  const planned = planFor(onDisk.release, observed, why);
  const plan = tellingOthers(parts, wanted.key, planned, observed);
  await requireNoClash(parts, onDisk.release, plan, signal);
  await requireImages(parts, onDisk, { services: plan.services, progress, images }, signal);
  const ran = wanted.swarm === undefined
    ? await imagesPresent(parts.host.engine, onDisk.release.services, images, signal)
    : images;
  return { onDisk, observed, plan, images: ran };
}

/** Words about a release that is rolled out again. */
interface SaidAgain {
  readonly wanted: RecordedRelease;
  readonly decided: string;
  readonly done: string;
  /** What was attempted, for errors: `rolling shop back`. */
  readonly doing: string;
}

/**
 * Rolls a recorded release out again, and tells what becomes of it. Throws `deploy_failed`; returns
 * `undefined` when another process changed the stack meanwhile.
 */
async function carryOutTold(
  parts: PipelineParts,
  teller: Teller,
  { onDisk, plan, observed, images, ...work }:
    & ReadyAgain
    & Pick<MarkedRollout, "removeOrphans" | "remembers" | "since" | "pin">,
  { wanted, decided, done, doing }: SaidAgain,
  signal: AbortSignal,
): Promise<"done" | undefined> {
  const rollout = {
    ...work,
    next: onDisk,
    again: wanted,
    services: plan.services,
    observed,
    images,
    pruneImages: false,
    timeoutSeconds: wanted.timeoutSeconds,
    automatic: false,
    progress: (text: string) => teller.tell({ kind: "step", text }),
    note: done,
  };
  teller.begin("deploy", decided, plan.services);
  let end: TargetEnd;
  try {
    const carry = () => carryOut(parts, rollout, signal);
    const result = await stage(parts, teller.target, "deploy", carry);
    if (result === undefined) return undefined;
    const others = result.kind === "deployed" ? otherImages(wanted, result.images) : "";
    end = endOf(result, `${done}${others}`);
    teller.tell({ kind: "ended", end });
  } catch (thrown) {
    teller.fail(doing, thrown, signal);
    throw thrown;
  }
  if (end.status === "failed") throw errors.deploy_failed(end.message);
  parts.ledger.stops.remove(wanted.key);
  return "done";
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
