import { endFormerRuns } from "../../deploy/mod.ts";
import type { Release } from "../../model/mod.ts";
import { recordedOwner } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** The end of what jobs of a stack's former owner still run, which is said. */
export async function endOthersRuns(
  { host: { engine }, ledger, log }: PipelineParts,
  { key, swarm }: Pick<Release, "key" | "swarm">,
  signal: AbortSignal,
): Promise<void> {
  const which = { key, isStack: swarm !== undefined, owner: recordedOwner(ledger, key) };
  const ended = await endFormerRuns(engine, which, signal);
  if (ended.length === 0) return;
  const text = `ended what jobs of the stack's former owner ran: ${ended.join(", ")}`;
  log.warning(text, { stack: key.name, context: key.context });
}
