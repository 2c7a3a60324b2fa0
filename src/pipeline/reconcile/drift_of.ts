import { lookAtServices, lookForDrift } from "../../deploy/mod.ts";
import {
  type Drift,
  NO_DRIFT,
  type ObservedStack,
  type ReconciliationOptions,
} from "../../model/mod.ts";
import { judgeDrift, listedDrift } from "../../plan/mod.ts";
import { hideSecrets } from "../../prepare/mod.ts";
import type { RecordedRelease } from "../../record/ledger.ts";
import { tellDrift } from "../../tell/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** A stack to reconcile, and how it reacts. */
export interface Reconciled {
  readonly recorded: RecordedRelease;
  readonly options: ReconciliationOptions & { readonly removeOrphans?: boolean };
}

/**
 * Looks for drift and records it. Returns the drift to repair, without drift that recreating a
 * container did not remove: it would be recreated time and again.
 */
export async function driftOf(
  { ledger, ledger: { reconciliations }, clock, log, secrets, host: { engine } }: PipelineParts,
  { recorded, recorded: { key, swarm, images }, options }: Reconciled,
  { observed, since }: { readonly observed: ObservedStack; readonly since: string },
  signal: AbortSignal,
): Promise<readonly Drift[]> {
  if (options.drift === "ignore") {
    if (reconciliations.drift(key) !== undefined) reconciliations.noteDrift(key, NO_DRIFT);
    return [];
  }
  const release = ledger.open(recorded);
  // For a swarm, services are compared: tasks follow them, whatever is done to their containers.
  const looked = swarm === undefined
    ? await lookForDrift(engine, release, observed, signal)
    : { fields: await lookAtServices(engine, { ...release, images }, signal), restarts: [] };
  if (looked.fields.length > 0) await hideSecrets({ secrets }, release);
  // A rollout that is half done differs from its release without anybody having changed it.
  if (!ledger.isStill(key, since)) return [];
  const listed = listedDrift(release, observed)
    // A swarm restarts ended tasks by itself.
    .filter(({ field }) => swarm === undefined || ["containers", "service"].includes(field));
  const fields = reconciliations.masked(key, looked.fields);
  // Read after looking: a concurrent look may have told and recorded the same drift meanwhile.
  const before = reconciliations.drift(key);
  const judged = judgeDrift({ ...looked, listed, fields, before }, options, clock.now());
  tellDrift(log, key, judged, options.drift);
  reconciliations.noteDrift(key, judged.found);
  return judged.mended;
}
