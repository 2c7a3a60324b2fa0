import { errors } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** Most stacks of a repository with a release: those that nothing names any more stay, with their data. */
export const MOST_DEPLOYED = 5_000;

/** Refuses the first release of a stack whose repository has as many as it may. Throws `conflict`. */
export function requireRoomForStack(
  { ledger }: { readonly ledger: Pick<PipelineParts["ledger"], "countOf"> },
  { key, configuration: { source: { name } } }: Pick<Target, "key" | "configuration">,
): void {
  const count = ledger.countOf(name);
  if (count < MOST_DEPLOYED) return;
  throw errors.conflict(
    `${key.name} is not deployed: ${name} has ${count} stacks, at most ${MOST_DEPLOYED} are allowed; remove ` +
      "those that nothing names any more (stackwright status shows them as orphaned)",
  );
}
