import { type DiscoveredStack, formatRevision, type Revision } from "../../model/mod.ts";
import type { OpenedSource } from "../open_source.ts";
import type { PipelineParts } from "../parts.ts";
import { lookUp } from "../resolve_revision.ts";

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

/** Why a removal is left to a newer commit, which came while this run waited for others. */
export async function overtakenBy(
  parts: PipelineParts,
  { request, configuration }: Pick<OpenedSource, "request" | "configuration">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { revision } = await lookUp(parts, { request }, signal);
  if (revision.id === configuration.id) return undefined;
  return `${formatRevision(revision)} came meanwhile, whose run decides`;
}
