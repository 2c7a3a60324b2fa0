import {
  askingSource,
  type DiscoveredStack,
  errors,
  type Revision,
  type StackKey,
} from "../model/mod.ts";
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

/**
 * Refuses a stack that was discovered in another repository than the configuration's, and has the
 * name of one that is deployed from a third: who may add directories there is not who may write the
 * configuration, to which both stacks belong. Call it with the stack's lock held.
 *
 * Throws `conflict`.
 */
export function requireFreeName(
  ledger: Pick<Ledger, "owners" | "current" | "history" | "discovered">,
  found: DiscoveredStack | undefined,
  source: Pick<Revision["source"], "name">,
): void {
  if (found === undefined || found.repository === source.name) return;
  const { key, repository, directory } = found;
  // While a stack has an owner its volumes may be there, also after it was destroyed.
  const last = () => ledger.owners.get(key) && ledger.history(key, 1)[0];
  const release = ledger.current(key) ?? last();
  const from = release?.revision.source.name ?? ledger.discovered.get(key)?.repository;
  if (from === undefined || from === repository) return;
  throw errors.conflict(
    `conflict: ${key.name} is deployed from ${from}, so it was not deployed from ${directory} of ` +
      `${repository}, where it was discovered; choose another name there, or write the stack down ` +
      `in the configuration of ${source.name}`,
  );
}
