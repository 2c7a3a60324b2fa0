import { shortReference } from "../config/mod.ts";
import { errors, type SourceRequest, type StackKey } from "../model/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { sourceLocation } from "../source/mod.ts";

/**
 * Finds the source of a stack: the entry of `polls` that names it, else the source of the newest
 * release in the ledger. Throws `not_found` when no release was recorded.
 */
export function sourceOfStack(
  ledger: Pick<Ledger, "history" | "owners">,
  polls: readonly SourceRequest[],
  key: StackKey,
): SourceRequest {
  const [newest] = ledger.history(key, 1);
  if (newest === undefined) {
    throw errors.not_found(
      `no release of ${key.name} on context ${key.context} says where it comes from: poll its source`,
      { told: "no release of this stack says where it comes from: poll its source" },
    );
  }
  const { source, reference } = newest.configuration ?? newest.revision;
  const wanted = ledger.owners.get(key)?.reference || reference;
  const names = ({ kind, url, identity, target, deployments }: SourceRequest) =>
    (identity ?? sourceLocation(kind, url).name) === source.name && target === newest.target &&
    (deployments.length === 0 ||
      deployments.some(({ deployment }) => deployment.name === key.name));
  const follows = (entry: SourceRequest) =>
    entry.reference === wanted || entry.reference === shortReference(wanted);
  const entries = polls.filter(names);
  const entry = entries.find(follows) ?? entries[0];
  if (entry !== undefined) return follows(entry) ? entry : { ...entry, reference: wanted };
  return {
    kind: source.kind,
    url: source.url,
    identity: source.name,
    reference: wanted,
    target: newest.target,
    deployments: [],
  };
}
