import { type DiscoveredStack, formatRevision, messageOf, type Revision } from "../../model/mod.ts";
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

/**
 * Why a removal is left to another run: a newer commit than those `looked` at came while this one waited for
 * others, or nobody can tell.
 */
export async function overtakenBy(
  { source, options: { cloneDepth: depth } }: Pick<PipelineParts, "source" | "options">,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { source: location, reference, id } of looked) {
    try {
      const now = await source.resolve({ location, reference, depth }, signal);
      if (now.id === id) continue;
      return `${formatRevision(now)} of ${location.name} came meanwhile, whose run decides`;
    } catch (error) {
      signal.throwIfAborted();
      return `it is removed when its source tells that nothing newer wants it: ${messageOf(error)}`;
    }
  }
  return undefined;
}
