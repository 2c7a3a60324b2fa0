import { stackClaims } from "../../compose/mod.ts";
import { requireUnclaimed } from "../../deploy/mod.ts";
import type { Release, StackKey } from "../../model/mod.ts";
import { requireNoClash } from "../../prepare/mod.ts";
import type { Ledger } from "../../record/ledger.ts";
import { createPauses } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { askerOf, type AskingRelease } from "./asker.ts";

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
  await requireNotClaimed(
    parts,
    release,
    { owner, discovered, claims: stackClaims(release) },
    signal,
  );
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
  const release = parts.ledger.open(recorded);
  const claims = stackClaims(release).filter((each) => each.service === service);
  await requireNotClaimed(parts, release, { claims }, signal);
}

async function requireNotClaimed(
  parts: PipelineParts,
  { key, configuration, revision }: Release,
  { owner, discovered, claims }: Pick<AskingRelease, "owner" | "discovered"> & {
    readonly claims: ReturnType<typeof stackClaims>;
  },
  signal: AbortSignal,
): Promise<void> {
  if (claims.length === 0) return;
  const of = { key, revision, ...(configuration && { configuration }) };
  const claimants = await claimantsOf(parts.ledger, key, claims);
  const { claimant, facts } = askerOf(parts, { ...of, owner, discovered }, signal);
  await requireUnclaimed(key, { claims, claimants }, facts, claimant);
}

/** The stacks of an engine that claim any of these, by key of the claims; notes first what is not noted yet. */
export async function claimantsOf(
  ledger: Pick<Ledger, "owners" | "claims" | "release" | "open">,
  key: StackKey,
  claims: ReturnType<typeof stackClaims>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const contexts = [key.context, ...ledger.owners.contextsBeside(key)];
  const pauses = createPauses(1);
  for (const id of ledger.claims.toNote(contexts)) {
    await pauses.after(1);
    const held = heldBy(ledger, id);
    if (held !== undefined) ledger.claims.note(id, held);
  }
  return ledger.claims.claimants(
    claims.flatMap(({ held, needed }) => [...held, ...needed]),
    contexts,
  );
}

/** Keys of what a release claims; `undefined` where it is gone, or cannot be opened any more. */
function heldBy(ledger: Pick<Ledger, "release" | "open">, id: string): string[] | undefined {
  try {
    const found = ledger.release(id);
    return found && stackClaims(ledger.open(found)).flatMap(({ held }) => held);
  } catch {
    return undefined;
  }
}
