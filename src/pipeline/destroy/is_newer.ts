import {
  type DiscoveredStack,
  formatRevision,
  type Revision,
  StackwrightError,
  toStackwrightError,
} from "../../model/mod.ts";
import type { Hold } from "../../plan/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** Whether a stack runs a newer commit of the same reference than this run looked at. */
export async function isNewer(
  parts: PipelineParts,
  { key }: DiscoveredStack,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<boolean | "unknown"> {
  const current = parts.ledger.current(key);
  if (current === undefined) return false;
  const deployed = [current.revision, ...current.configuration ? [current.configuration] : []];
  const told: (boolean | "unknown")[] = [];
  for (const revision of deployed) {
    const now = looked.find(({ source, reference }) =>
      source.name === revision.source.name && reference === revision.reference
    );
    if (now === undefined || now.id === revision.id) continue;
    const located = { ...revision, source: now.source };
    told.push(await parts.source.isAncestor(now, located, signal));
  }
  return told.includes(true) || (told.includes("unknown") && "unknown");
}

/**
 * Why a change is left to another run: a newer commit than those `looked` at came while this one waited for
 * others. Throws what asking the sources throws: a change of which nobody can tell fails, and is tried again.
 */
export async function overtakenBy(
  { source, options: { cloneDepth: depth } }: Pick<PipelineParts, "source" | "options">,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const services = [] as const;
  for (const { source: location, reference, id } of looked) {
    try {
      const now = await source.resolve({ location, reference, depth }, signal);
      if (now.id === id) continue;
      const message = `${
        formatRevision(now)
      } of ${location.name} came meanwhile, whose run decides`;
      return { reason: "superseded", message, services };
    } catch (error) {
      signal.throwIfAborted();
      const { code, message } = toStackwrightError(error, `asking ${location.name}`);
      const why = `it is changed when its source tells that no newer commit came: ${message}`;
      throw new StackwrightError(code, why, { cause: error });
    }
  }
  return undefined;
}
