import type { RunReporter } from "../model/mod.ts";
import { type PlannedStacks, planSource, type SourceRun } from "../pipeline/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { scratchPrefix, withTemporaryDirectory } from "../system/mod.ts";
import { assemble } from "./assemble.ts";
import type { System } from "./system.ts";

/**
 * Plans a source and changes nothing: mirrors, trees and a copy of the ledger are in a directory
 * that is removed afterwards, and the data directory is only read.
 *
 * Throws what opening the data directory, and reading the source and its configuration, throw.
 */
export async function planAside(
  settings: Settings,
  system: System,
  { run, reporter }: { readonly run: SourceRun; readonly reporter: RunReporter },
  signal: AbortSignal,
): Promise<PlannedStacks> {
  return await withTemporaryDirectory(system.files, scratchPrefix("plan"), async (scratchDir) => {
    const assembly = await assemble(settings, system, { scratchDir });
    try {
      return await planSource(await assembly.pipelineParts(signal), run, reporter, signal);
    } finally {
      await assembly.close();
    }
  });
}
