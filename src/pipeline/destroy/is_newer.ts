import {
  type DiscoveredStack,
  errors,
  formatRevision,
  type Revision,
  StackwrightError,
  toStackwrightError,
} from "../../model/mod.ts";
import type { Hold } from "../../plan/mod.ts";
import { abortable, withDeadline } from "../../system/mod.ts";
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

/** Milliseconds that a repository beside the first one is waited for: what it keeps waiting is another author's. */
const ASKED_MS = 30_000;

/**
 * Why a change is left to another run, or to another look of this one: a newer commit than those `looked` at came
 * while this one waited for others. The first of these is of the author whose stack is changed. Throws what asking
 * the sources throws, `timeout` among it: a change of which nobody can tell fails, and is tried again.
 */
export async function overtakenBy(
  parts: Pick<PipelineParts, "source" | "options" | "clock">,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const { source, options: { cloneDepth: depth } } = parts;
  const services = [] as const;
  const own = looked[0]?.source.name;
  const late = () => errors.timeout(`no answer within ${ASKED_MS / 1000} s`);
  const soon = { clock: parts.clock, milliseconds: ASKED_MS, late };
  for (const { source: location, reference, id } of looked) {
    const ask = (during: AbortSignal) => source.resolve({ location, reference, depth }, during);
    try {
      const now = location.name === own ? await ask(signal) : await withDeadline(
        soon,
        (during) => abortable(ask(during), during),
        signal,
      );
      if (now.id === id) continue;
      const message = `${
        formatRevision(now)
      } of ${location.name} came meanwhile, by which it is decided`;
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
