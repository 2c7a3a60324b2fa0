import { claimsOfContainers, type StackClaim, stackClaims } from "../../compose/mod.ts";
import { requireUnclaimed } from "../../deploy/mod.ts";
import {
  formatStackKey,
  type ObservedStack,
  type Release,
  type ServicePlan,
  type StackKey,
} from "../../model/mod.ts";
import { requireNoClash } from "../../prepare/mod.ts";
import type { Ledger } from "../../record/ledger.ts";
import { createPauses, inPieces } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { askerOf, type AskingRelease } from "./asker.ts";

/** Claims that are asked about, and keys that are written, without a pause. */
const AT_ONCE = 200;

/**
 * Finds what keeps containers of a release from being made, before anything is changed: as
 * {@link requireNoClash}, and also what stacks of other owners claim while none of their containers has it:
 * who took it meanwhile would keep them from being put back or started again. Stacks of one owner give each
 * other what they like, in turns. Throws `conflict`.
 */
export async function requireFree(
  parts: PipelineParts,
  release: Release,
  { owner, discovered, ...now }:
    & Parameters<typeof requireNoClash>[2]
    & Pick<AskingRelease, "owner" | "discovered">,
  signal: AbortSignal,
): Promise<void> {
  await requireNoClash(parts, release, now, signal);
  const asker = { owner, discovered, services: now.plan.services, observed: now.observed };
  await requireNotClaimed(parts, release, asker, signal);
}

/**
 * Finds what another owner's stack claims of what a service of a recorded release needs, before its container is
 * started on its own, as for a run of its job. Asks nothing of a stack without a good release. Throws `conflict`.
 */
export async function requireServiceFree(
  parts: PipelineParts,
  key: StackKey,
  service: string,
  signal: AbortSignal,
): Promise<void> {
  const recorded = parts.ledger.current(key);
  if (recorded === undefined) return;
  const run = { name: service, action: "start", isRun: true } as const;
  await requireNotClaimed(parts, parts.ledger.open(recorded), { services: [run] }, signal);
}

/**
 * The part of {@link requireFree} that other stacks' releases tell, for services that a plan changes: asked
 * again after a wait, right before the release is one of those that claim. By default in the name of the stack's
 * owner.
 */
export async function requireNotClaimed(
  parts: Parameters<typeof askerOf>[0] & Pick<PipelineParts, "goes">,
  release: Release,
  { owner, discovered, services, observed }: Pick<AskingRelease, "owner" | "discovered"> & {
    /** What the stack runs, which has what it has, whatever others claim. */
    readonly observed?: Pick<ObservedStack, "containers">;
    /** What becomes of services; `isRun`, that the one of a job is started. */
    readonly services:
      readonly (Pick<ServicePlan, "name" | "action"> & { readonly isRun?: true })[];
  },
  signal: AbortSignal,
): Promise<void> {
  const { key, configuration, revision } = release;
  const changed = new Map(
    services.filter(({ action }) => action !== "keep").map((each) => [each.name, each.isRun]),
  );
  const claims = stackClaims(release).filter(({ service, isOfRuns }) =>
    changed.has(service) && (isOfRuns !== true || changed.get(service) === true)
  );
  const of = { key, revision, ...(configuration && { configuration }) };
  const { claimant, facts } = askerOf(parts, { ...of, owner, discovered }, signal);
  const own = new Set(claimsOfContainers(observed?.containers ?? []));
  const stays = (name: string) => parts.goes?.has(formatStackKey({ ...key, name })) !== true;
  const pauses = createPauses(AT_ONCE);
  for (const some of inPieces(claims, AT_ONCE)) {
    const found = await claimantsOf(parts.ledger, key, some);
    const claimants = new Map(
      found.entries().map(([claim, names]) => [claim, new Set(names.values().filter(stays))]),
    );
    await requireUnclaimed(key, { claims: some, claimants, own }, facts, claimant);
    await pauses.after(some.length);
    signal.throwIfAborted();
  }
}

/** The stacks of an engine that claim any of these, by key of the claims; notes first what is not noted yet. */
export async function claimantsOf(
  ledger: Pick<Ledger, "owners" | "claims" | "release" | "open">,
  key: StackKey,
  claims: readonly StackClaim[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const contexts = [key.context, ...ledger.owners.contextsBeside(key)];
  for (const id of ledger.claims.toNote(contexts)) await noteClaims(ledger, id);
  return ledger.claims.claimants(
    claims.flatMap(({ held, needed }) => [...held, ...needed]),
    contexts,
  );
}

/** Notes what a release claims; nothing where it is gone, or cannot be opened any more. */
async function noteClaims(
  ledger: Pick<Ledger, "claims" | "release" | "open">,
  id: string,
): Promise<void> {
  const pauses = createPauses(1);
  await pauses.after(1);
  const claims = claimsOfRecorded(ledger, id);
  if (claims === undefined) return;
  for (const some of inPieces(claims.flatMap(({ held }) => held), AT_ONCE)) {
    ledger.claims.note(id, some);
    await pauses.after(1);
  }
  ledger.claims.noted(id);
}

function claimsOfRecorded(ledger: Pick<Ledger, "release" | "open">, id: string) {
  try {
    const found = ledger.release(id);
    return found && stackClaims(ledger.open(found));
  } catch {
    return undefined;
  }
}
