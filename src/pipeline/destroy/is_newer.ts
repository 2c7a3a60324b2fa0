import type { DiscoveredStack, Revision } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** True when a stack runs a newer commit of the same reference than this run looked at. */
export async function isNewer(
  parts: PipelineParts,
  { key }: DiscoveredStack,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<boolean> {
  const current = parts.ledger.current(key);
  if (current === undefined) return false;
  const deployed = [current.revision, ...current.configuration ? [current.configuration] : []];
  for (const revision of deployed) {
    const now = looked.find(({ source, reference }) =>
      source.name === revision.source.name && reference === revision.reference
    );
    if (now === undefined || now.id === revision.id) continue;
    const located = { ...revision, source: now.source };
    if (await parts.source.isAncestor(now, located, signal) === true) return true;
  }
  return false;
}
