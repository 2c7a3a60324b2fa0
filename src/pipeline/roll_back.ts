import { observe, type RolloutResult } from "../deploy/mod.ts";
import {
  formatStackArguments,
  formatStackKey,
  messageOf,
  own,
  type Plan,
  type Progress,
  type StackKey,
  StackwrightError,
  type TargetListener,
} from "../model/mod.ts";
import { planFor } from "../plan/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import type { Pin } from "../record/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import { bringToDisk, carryOut, type MarkedRollout } from "./carry_out.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { requireImages, requireNoClash, stage } from "../prepare/mod.ts";
import { requireModeOf } from "./stack_mode.ts";
import { waitForStack } from "./waits.ts";

/** Releases among which the one that is refused is looked for. */
const MOST_LOOKED_AT = 100;

/** A person's wish to have a release back. */
export interface RollbackRequest {
  /** A release of `history`; without it, the good one before the current. */
  readonly number: number | undefined;
  /** Why, in the words of whoever asks; may be empty. */
  readonly reason: string;
  readonly progress: Progress;
  /** Listeners besides those of the pipeline, such as the record of a run. */
  readonly listeners?: readonly TargetListener[];
}

/**
 * Deploys a recorded release again, from what the ledger and the disk have, and pins it: updates
 * leave the stack alone until a commit arrives whose inputs are others than of the one it was put back
 * from. A stack that another process is changing is waited for. Nothing that runs is touched before
 * its files and images are there.
 *
 * Throws `not_found` when there is no such release, `source_invalid` when its files cannot be had,
 * `deploy_failed` when it does not become healthy; what ran before is restored then.
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
      if (await attempt(parts, key, request, signal) === "done") return;
    }
  }, signal);
}

/**
 * The same for a stack whose lock is held; `undefined` when another process changed it meanwhile.
 */
async function attempt(
  parts: PipelineParts,
  key: StackKey,
  { number, reason, progress, listeners = [] }: RollbackRequest,
  signal: AbortSignal,
): Promise<"done" | undefined> {
  const since = parts.ledger.mark(key);
  const { current, wanted } = chooseRelease(parts.ledger, key, number);
  const onDisk = await bringToDisk(parts, wanted, signal);
  if (onDisk === undefined) {
    throw new StackwrightError(
      "source_invalid",
      `release ${wanted.number} of ${key.name} cannot be put back: its files are neither on disk nor in the mirror`,
    );
  }
  progress("looking at what runs");
  if (wanted.swarm === undefined) {
    await parts.host.images.point(onDisk.release.services, wanted.images, signal);
  }
  requireModeOf(key, wanted, current);
  const observed = await observe(parts.host.engine, wanted, signal);
  const { services, images } = wanted;
  const why = { kind: "put_back", deployed: current.services, images } as const;
  const plan = planFor(services, observed, why);
  await requireNoClash(parts, onDisk.release, plan, signal);
  await requireImages(parts, onDisk, { services: plan.services, progress, images }, signal);
  const pin = await pinTo(parts, { wanted, current, reason }, signal);
  const { source } = wanted.revision;
  const told = { key, repository: source.name, trigger: "rollback", origin: "manual" } as const;
  const teller = createTeller([...parts.listeners, ...listeners], told, wanted.revision);
  const result = await carryOutTold(
    parts,
    teller,
    {
      next: onDisk,
      services: plan.services,
      observed,
      images: wanted.images,
      removeOrphans: true,
      pruneImages: false,
      timeoutSeconds: wanted.timeoutSeconds,
      automatic: false,
      progress: (text) => teller.tell({ kind: "step", text }),
      note: `release ${wanted.number} again: ${plan.message}`,
      since,
      // With the intent, so that no poll in between undoes it; another process may poll.
      pin,
    },
    { wanted, plan, reason },
    signal,
  );
  if (result === undefined) return undefined;
  if (result.kind !== "deployed") {
    throw new StackwrightError("deploy_failed", `${result.error.message}; ${result.text}`);
  }
  parts.ledger.stops.remove(key);
  return "done";
}

/** Carries a rollback out, and tells what becomes of it. */
async function carryOutTold(
  parts: PipelineParts,
  teller: Teller,
  work: MarkedRollout,
  { wanted, plan, reason }: {
    readonly wanted: RecordedRelease;
    readonly plan: Plan;
    readonly reason: string;
  },
  signal: AbortSignal,
): Promise<RolloutResult | undefined> {
  const { services } = plan;
  const { number } = wanted;
  const because = reason === "" ? "" : ` (${reason})`;
  const message = `back to release ${number}${because}: ${plan.message}`;
  teller.tell({ kind: "decided", decision: { kind: "deploy", message, changes: [], services } });
  teller.tell({ kind: "started" });
  try {
    const deploy = () => carryOut(parts, work, signal);
    const result = await stage(parts, teller.target, "deploy", deploy);
    if (result === undefined) return undefined;
    const end = result.kind === "deployed"
      ? {
        status: "succeeded",
        message: `release ${number} again: ${plan.message}${otherImages(wanted, result.images)}`,
      } as const
      : { status: "failed", message: `${result.error.message}; ${result.text}` } as const;
    teller.tell({ kind: "ended", end });
    return result;
  } catch (thrown) {
    teller.fail(`rolling ${teller.target.key.name} back`, thrown, signal);
    throw thrown;
  }
}

/** What holds the stack at a release that is put back in the place of the current one. */
async function pinTo(
  parts: PipelineParts,
  { wanted, current, reason }: {
    readonly wanted: RecordedRelease;
    readonly current: RecordedRelease;
    readonly reason: string;
  },
  signal: AbortSignal,
): Promise<Pin> {
  const revision = await newestRevision(parts, current, signal);
  const refused = parts.ledger.history(wanted.key, MOST_LOOKED_AT)
    .find((each) => each.revision.id === revision);
  const { digest, closure } = refused ?? {};
  return {
    releaseId: wanted.id,
    revision,
    ...(digest === undefined || closure === undefined ? {} : { refused: { digest, closure } }),
    pinnedAt: parts.clock.now(),
    ...(reason === "" ? {} : { reason }),
  };
}

/** Says where an image that a release ran is gone, and its name means another one now. */
function otherImages(wanted: RecordedRelease, now: Readonly<Record<string, string>>): string {
  const others = Object.keys(now).filter((name) =>
    own(wanted.images, name) !== undefined && wanted.images[name] !== now[name]
  );
  if (others.length === 0) return "";
  return `; ${
    others.sort().join(", ")
  } runs another image than then: that one is not on the engine ` +
    `any more, see RELEASE_IMAGE_RETENTION`;
}

/**
 * Chooses the release that a rollback puts back, and tells which one it replaces. Throws `not_found`
 * when there is none.
 */
export function chooseRelease(
  ledger: Pick<Ledger, "current" | "history">,
  key: StackKey,
  number: number | undefined,
): { readonly current: RecordedRelease; readonly wanted: RecordedRelease } {
  const current = ledger.current(key);
  const history = ledger.history(key, Number.MAX_SAFE_INTEGER);
  if (current === undefined) {
    throw new StackwrightError("not_found", `${key.name} has no release on ${key.context}`);
  }
  const wanted = number === undefined
    ? history.find((each) =>
      each.number < current.number && each.status === "deployed" && each.digest !== current.digest
    )
    : history.find((each) => each.number === number);
  if (wanted !== undefined) return { current, wanted };
  const which = number === undefined
    ? "no good release before the current one"
    : `no release ${number}`;
  throw new StackwrightError(
    "not_found",
    `${key.name} has ${which}; stackwright history ${
      formatStackArguments(key)
    } lists what there is`,
  );
}

/**
 * The commit that must not come back by itself: the newest one of the reference, if it can be
 * asked.
 */
async function newestRevision(
  parts: PipelineParts,
  current: RecordedRelease,
  signal: AbortSignal,
): Promise<string> {
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
