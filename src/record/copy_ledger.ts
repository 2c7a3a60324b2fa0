import { DatabaseSync } from "node:sqlite";
import { messageOf, StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

/**
 * Copies the ledger at `from`, as it is at this moment, to `to`, which must not exist; does nothing
 * when there is none. The original and its directory are only read: what looks at a ledger must
 * neither migrate it nor leave files there that the service's user cannot write.
 *
 * Throws `ledger_unusable` when it cannot be read.
 */
export async function copyLedger(files: Files, from: string, to: string): Promise<void> {
  try {
    if (await files.stat(`${from}-wal`) !== undefined) return copyOpenLedger(from, to);
    // Nobody has it open: opening it would leave a journal behind.
    const bytes = await files.readIfExists(from);
    if (bytes !== undefined) await files.write(to, bytes, { mode: 0o600 });
  } catch (cause) {
    throw new StackwrightError(
      "ledger_unusable",
      `the ledger ${from} cannot be read: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** SQLite sees to it that a copy of what another process writes to is whole. */
function copyOpenLedger(from: string, to: string): void {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    database.prepare("VACUUM INTO ?").run(to);
  } finally {
    database.close();
  }
}
