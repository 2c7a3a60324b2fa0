import { shortReference } from "../config/mod.ts";
import { askingSource, errors, type SourceRequest, type StackKey } from "../model/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { sourceNameOf } from "../source/mod.ts";

/**
 * Finds the source of a stack: the entry of `polls` that names it, else the source of the newest
 * release of its owner in the ledger. Throws `not_found` when none was recorded, and `polls` have no
 * entry of the owner, to whom the stack was handed over.
 */
export function sourceOfStack(
  ledger: Pick<Ledger, "history" | "owners">,
  polls: readonly SourceRequest[],
  key: StackKey,
): SourceRequest {
  const owner = ledger.owners.get(key);
  // Of a stack that was handed over, the newest release may be a former owner's, who is refused.
  const newest = ledger.history(key, Number.MAX_SAFE_INTEGER)
    .find((each) => owner === undefined || askingSource(each) === owner.source);
  const { source, reference } = newest?.configuration ?? newest?.revision ?? {};
  const wanted = owner?.reference || reference;
  const names = (request: SourceRequest) =>
    sourceNameOf(request) === (owner?.source ?? source?.name) &&
    (newest === undefined || request.target === newest.target) &&
    (request.deployments.length === 0 ||
      request.deployments.some(({ deployment }) => deployment.name === key.name));
  const follows = (entry: SourceRequest) =>
    wanted === undefined ||
    entry.reference === wanted || entry.reference === shortReference(wanted);
  const entries = polls.filter(names);
  const entry = entries.find(follows) ?? entries[0];
  if (entry !== undefined) {
    return wanted === undefined || follows(entry) ? entry : { ...entry, reference: wanted };
  }
  if (newest === undefined || source === undefined || wanted === undefined) {
    throw errors.not_found(
      `no release of ${key.name} on context ${key.context} says where it comes from: ${TRY_BY_SOURCE}`,
      { told: `no release of this stack says where it comes from: ${TRY_BY_SOURCE}` },
    );
  }
  return {
    kind: source.kind,
    url: source.url,
    identity: source.name,
    reference: wanted,
    target: newest.target,
    deployments: [],
  };
}

/** What to do where the stack alone does not tell what to try again. */
const TRY_BY_SOURCE =
  "poll its source now (POST /v1/api/poll/run), or deploy it (stackwright apply)";
