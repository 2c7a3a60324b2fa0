import type { TargetListener } from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { createTeller, type Teller } from "./teller.ts";

/** Makes the teller of actions and findings of reconciliation. */
export function reconciliationTeller(
  listeners: readonly TargetListener[],
  { key, revision }: Pick<RecordedRelease, "key" | "revision">,
): Teller {
  const by = { trigger: "reconciliation", origin: "automatic" } as const;
  return createTeller(listeners, { key, repository: revision.source.name, ...by }, revision);
}
