import type { StackKey } from "../../model/mod.ts";
import type { Intent } from "../../record/ledger.ts";
import { endGoneRunsOf } from "../owner/end_others_runs.ts";
import type { PipelineParts } from "../parts.ts";
import { prunePlacedFiles, stackFiles } from "../placed_files.ts";

/** Removes what the release of an intent has replaced, where a process ended in the middle of that; closes it. */
export async function tidyAfter(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<void> {
  await tidyReplaced(parts, intent.key, signal);
  parts.ledger.tidied(intent);
}

/**
 * Removes copies of files that a healthy release has replaced, or that no release needs any more, and starts
 * what jobs that it has removed had stopped.
 */
export async function tidyReplaced(
  parts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  await settleFiles(parts, key);
  await prunePlacedFiles(parts, key, signal);
  await endGoneRunsOf(parts, key, signal);
}

/** Removes copies of replaced files; only warns, as a leftover must not fail the release. */
export async function settleFiles(parts: PipelineParts, key: StackKey): Promise<void> {
  try {
    await stackFiles(parts, key).settle();
  } catch (error) {
    const fields = { stack: key.name, context: key.context, error };
    parts.log.warning("copies of replaced files could not be removed", fields);
  }
}
