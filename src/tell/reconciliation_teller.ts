import type { TargetListener } from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { createTeller, type Teller } from "./teller.ts";

/** Makes the teller of what is done, or was found, because of what happened to a stack's containers. */
export function reconciliationTeller(
  listeners: readonly TargetListener[],
  { key, revision }: Pick<RecordedRelease, "key" | "revision">,
): Teller {
  const by = { trigger: "reconciliation", origin: "automatic" } as const;
  return createTeller(listeners, { key, repository: revision.source.name, ...by }, revision);
}
