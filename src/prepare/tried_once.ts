import { passesWebhookFilter } from "../config/mod.ts";
import type { Revision, SourceRequest } from "../model/mod.ts";
import { sourceAsOwner, type Turns } from "../system/mod.ts";

/** What a webhook is about: its reference as it was delivered, and the revision that it names. */
interface Pushed {
  readonly request: Pick<SourceRequest, "reference">;
  readonly configuration: Revision;
}

/**
 * Makes a function that tells whether a webhook's reference passes a filter. It tries each filter once,
 * in its turn: that may take 0.1 s, and the 500 deployments of a run may have one filter or 500. Rejects
 * with the signal's reason.
 */
export function triedOnce(
  { turns }: { readonly turns: Turns },
  { request, configuration: { source, reference } }: Pushed,
  signal: AbortSignal,
): (filter: string) => Promise<boolean> {
  const own = turns.by(sourceAsOwner(source.name));
  const names = [request.reference, reference];
  const tried = new Map<string, Promise<boolean>>();
  const passes = (filter: string) => own.take(() => passesWebhookFilter(filter, names), signal);
  return (filter) => tried.getOrInsertComputed(filter, passes);
}
