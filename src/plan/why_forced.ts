import type { Origin } from "../model/mod.ts";

/**
 * Reason why `force_recreate` counts for a run, `undefined` where it does not: the stack's inputs changed,
 * or a person asked. A poll that finds no change would stop the stack for nothing.
 *
 * `changes` are undefined where only rendering tells; then the digests of the releases decide. What the
 * first deployment of a stack finds is replaced for other reasons, if at all.
 */
export function whyForced({ origin, changes, deployed, wanted }: {
  readonly origin: Origin;
  readonly changes: readonly unknown[] | undefined;
  /** Digest of the deployed release, if there is one. */
  readonly deployed: string | undefined;
  /** Digest of the release that the source wants. */
  readonly wanted: string;
}): string | undefined {
  if (origin === "manual") return "force_recreate is set, and a person asked for this run";
  if (deployed === undefined) return undefined;
  const isChanged = changes === undefined ? deployed !== wanted : changes.length > 0;
  return isChanged ? "force_recreate is set, and the stack's inputs changed" : undefined;
}
