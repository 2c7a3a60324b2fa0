import { canonicalJson } from "../compose/mod.ts";
import { observe, volumesOf, volumesText } from "../deploy/mod.ts";
import {
  LABELS,
  type ObservedStack,
  type Plan,
  type Release,
  type StackKey,
} from "../model/mod.ts";
import { decide, requireSupported } from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { withOldData } from "./bring_old_data.ts";
import { pausedHold, stopHold } from "./hold.ts";
import type { PipelineParts } from "./parts.ts";
import { pinHold } from "./pin_hold.ts";
import { planAfterFailure } from "./plan_after_failure.ts";
import { prepareRelease, resolveSecrets, type Target } from "../prepare/mod.ts";
import { ownershipOf } from "./stack_owner.ts";

/** A plan that was made only to be looked at. */
export interface DryPlan {
  /** Digest of what is wanted, what runs and how they were compared: equal while all of that is. */
  readonly id: string;
  readonly plan: Plan;
  /** What would be deployed; absent where the stack would be destroyed. */
  readonly release?: Release;
  /** What is deployed now, if anything. */
  readonly recorded: RecordedRelease | undefined;
}

/**
 * Renders a target and decides, without changing anything: no image is fetched, nothing is recorded,
 * no call to the engine is a mutating one.
 */
export async function planTarget(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<DryPlan> {
  const { deployment, key } = target;
  requireSupported(deployment, target.declared.given, await parts.engineInfo(signal));
  const observed = await observe(parts.engine, key, signal);
  const recorded = parts.ledger.current(key);
  const { forceRecreate, removeOrphans, destroy, pause } = deployment;
  if (destroy.enabled && !pause) {
    const { removeVolumes } = destroy;
    const why = { observed, because: "destroy is set", removeVolumes };
    return { ...await planDestroy(parts, key, why, signal), recorded };
  }
  await ownershipOf(parts, target, observed, signal);
  const resolved = await resolveSecrets(parts, target, signal);
  const { release } = await prepareRelease(parts, resolved, signal);
  const policy = { forceRecreate, removeOrphans };
  const compared = decide({
    desired: release.services,
    observed,
    previous: recorded?.services,
    policy,
    images: {},
  });
  const needed = planAfterFailure(release, compared, {
    failed: parts.ledger.failures.get(key)?.release,
    deployed: recorded?.digest,
    observed,
  });
  const decided = await withOldData(parts, release, observed, needed, signal);
  const hold = stopHold(parts, key) ??
    (pause ? pausedHold(`deployment ${key.name} is paused`) : await pinHold(parts, target, signal));
  const plan = hold === undefined ? decided : { kind: "skip" as const, ...hold };
  const id = parts.key.digest(canonicalJson({
    key,
    digest: release.digest,
    policy,
    kind: plan.kind,
    observed: fingerprint(observed),
  }));
  return { id, plan, release, recorded };
}

/** Why a stack would be destroyed, and what of. */
export interface ToDestroy {
  readonly observed: ObservedStack;
  readonly because: string;
  readonly removeVolumes: boolean;
}

/**
 * The plan to destroy a stack. Its message names each volume that would be deleted with its data.
 * Throws what the engine throws.
 */
export async function planDestroy(
  parts: Pick<PipelineParts, "key" | "engine" | "ledger">,
  key: StackKey,
  { observed, because, removeVolumes }: ToDestroy,
  signal: AbortSignal,
): Promise<Pick<DryPlan, "id" | "plan">> {
  const isThere = observed.containers.length > 0 || parts.ledger.current(key) !== undefined;
  const volumes = removeVolumes && isThere ? await volumesOf(parts.engine, key, signal) : [];
  const plan = isThere ? destroyed(observed, because, volumes) : NOTHING_TO_DESTROY;
  const facts = { key, kind: plan.kind, observed: fingerprint(observed), volumes };
  return { id: parts.key.digest(canonicalJson(facts)), plan };
}

const NOTHING_TO_DESTROY: Plan = {
  kind: "skip",
  reason: "nothing_to_destroy",
  message: "there is nothing to destroy",
  services: [],
};

function destroyed(observed: ObservedStack, reason: string, volumes: readonly string[]): Plan {
  const names = [...new Set(observed.containers.map((each) => each.service))].sort();
  const services = names.map((name) => ({
    name,
    action: "remove" as const,
    because: [reason],
  }));
  const what = names.length === 0 ? "what is left" : names.join(", ");
  const message = `destroy ${what}${volumesText("deletes", volumes)}`;
  return { kind: "destroy", message, services };
}

/** What of the observed state a plan rests on. Health flickers and is left out. */
function fingerprint({ containers }: ObservedStack): string[] {
  return containers.map((each) => `${each.id} ${each.state} ${each.labels[LABELS.digest] ?? ""}`)
    .sort();
}
