import { observe, ownership } from "../deploy/mod.ts";
import type { ObservedStack, Plan, SkipReason } from "../model/mod.ts";
import { changedInputs, decide, requireSupported } from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { configurationText } from "./configuration_digest.ts";
import { contentIds } from "./content.ts";
import type { PipelineParts } from "./parts.ts";
import { prepareImages, refreshImages } from "./prepare_images.ts";
import { type PreparedRelease, prepareRelease, variablesOf } from "./prepare_release.ts";
import type { Target } from "./target.ts";

/** What is to be done about a target, decided before anything was touched. */
export type Decision =
  | { readonly kind: "skip"; readonly plan: Plan & { readonly kind: "skip" } }
  | { readonly kind: "destroy" }
  | {
    readonly kind: "deploy";
    readonly plan: Plan;
    readonly prepared: PreparedRelease;
    readonly observed: ObservedStack;
    readonly adopts: boolean;
  };

/**
 * Looks at a target and decides. A target whose inputs are those of its deployed release is settled
 * without a checkout and without compose; any other is rendered and digested. When there is
 * something to do, its images are on the engine afterwards, and nothing that runs was changed.
 */
export async function decideTarget(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  const { deployment, key, revision } = target;
  if (deployment.pause) return skip("paused", `deployment ${key.name} is paused`);
  requireSupported(deployment, target.declared.given, await parts.engineInfo(signal));
  if (deployment.destroy.enabled) return { kind: "destroy" };
  const recorded = parts.ledger.current(key);
  if (recorded !== undefined && await isSuperseded(parts, target, recorded, signal)) {
    return skip("superseded", `a newer commit of ${revision.reference} is already deployed`);
  }
  const observed = await observe(parts.engine, key, signal);
  const owner = ownership(key, observed, revision.source.name);
  const unchanged = await decideUnchanged(parts, target, recorded, observed, signal);
  if (unchanged !== undefined) return unchanged;

  const prepared = await prepareRelease(parts, target, signal);
  const plan = decide({
    desired: prepared.release.services,
    observed,
    previous: recorded?.services,
    policy: policyOf(target),
    images: await refreshImages(parts, target, prepared, signal),
  });
  if (plan.kind === "skip") {
    remember(parts, prepared, recorded, observed);
    return { kind: "skip", plan };
  }
  await prepareImages(parts, target, prepared, plan, signal);
  return { kind: "deploy", plan, prepared, observed, adopts: owner === "unmanaged" };
}

/** The decision when nothing the deployed release was made from has changed; else `undefined`. */
async function decideUnchanged(
  parts: PipelineParts,
  target: Target,
  recorded: RecordedRelease | undefined,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<Decision | undefined> {
  const { deployment, revision } = target;
  if (recorded === undefined || deployment.forceRecreate || deployment.forceImagePull) return;
  const text = configurationText(deployment, variablesOf(parts, target), parts.options.hostDataDir);
  const paths = Object.keys(recorded.closure.paths);
  const now = {
    configuration: parts.key.digest(text),
    paths: Object.fromEntries(await contentIds(parts.source, revision, paths, signal)),
  };
  if (changedInputs(recorded.closure, now).length > 0) return;
  const plan = decide({
    desired: recorded.services,
    observed,
    previous: recorded.services,
    policy: policyOf(target),
    images: {},
  });
  if (plan.kind !== "skip") return;
  if (recorded.revision.id !== revision.id) parts.ledger.moveRevision(recorded, revision);
  return { kind: "skip", plan };
}

/** A late webhook or a moved-back branch must not bring an older state back by itself. */
async function isSuperseded(
  parts: PipelineParts,
  target: Target,
  recorded: RecordedRelease,
  signal: AbortSignal,
): Promise<boolean> {
  const { revision, origin, deployment } = target;
  if (origin === "manual" || deployment.forceRecreate || recorded.revision.id === revision.id) {
    return false;
  }
  if (recorded.revision.source.name !== revision.source.name) return false;
  if (recorded.revision.reference !== revision.reference) return false;
  return await parts.source.isAncestor(revision, recorded.revision, signal) === true;
}

/** Keeps the newest inputs of a release that runs already, so that the next look is a cheap one. */
function remember(
  parts: PipelineParts,
  { release }: PreparedRelease,
  recorded: RecordedRelease | undefined,
  observed: ObservedStack,
): void {
  if (recorded !== undefined) return parts.ledger.refresh(recorded, release);
  if (observed.containers.length === 0) return;
  // The ledger was lost, the containers were not: they carry the digests of this very release.
  const images = Object.fromEntries(
    observed.containers.map((each) => [each.service, each.imageId]),
  );
  parts.ledger.succeed(parts.ledger.beginDeploy(release), images, "found running");
}

function policyOf({ deployment }: Target) {
  return { forceRecreate: deployment.forceRecreate, removeOrphans: deployment.removeOrphans };
}

function skip(reason: SkipReason, message: string): Decision {
  return { kind: "skip", plan: { kind: "skip", reason, message, services: [] } };
}
