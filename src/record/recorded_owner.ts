import { askingSource, type StackKey } from "../model/mod.ts";
import type { Ledger } from "./ledger.ts";
import type { RecordedOwner } from "./owners.ts";

/** The owner of a stack by the ledger; older versions recorded none, but their releases name it. */
export function recordedOwner(
  ledger: Pick<Ledger, "owners" | "current">,
  key: StackKey,
): RecordedOwner | undefined {
  const known = ledger.owners.get(key);
  if (known !== undefined) return known;
  const release = ledger.current(key);
  return release && { source: askingSource(release), reference: "", adopted: false };
}
