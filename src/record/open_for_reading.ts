import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { existsNow } from "../system/mod.ts";

/**
 * Opens the database at `path` to read it and makes no files beside it: a full disk has no room for
 * them, and the service's user could not write those of another user. Throws what SQLite throws.
 */
export function openForReading(path: string): DatabaseSync {
  const address = pathToFileURL(path);
  // No process has a database without a journal open, and SQLite would make one to read it.
  if (!existsNow(`${path}-wal`)) address.searchParams.set("immutable", "1");
  return new DatabaseSync(address, { readOnly: true });
}
