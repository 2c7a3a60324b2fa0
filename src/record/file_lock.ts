import { DatabaseSync } from "node:sqlite";
import { errors, messageOf } from "../model/mod.ts";
import { existsNow } from "../system/mod.ts";

/**
 * Locks the file at `path`, and makes it where it is missing, for as long as this process lives or
 * until the returned function is called; it may be called twice. `undefined` while somebody else
 * has it. The lock is SQLite's, which the kernel takes from whoever dies: what a killed process or
 * another container with the same ids left behind never holds anything up.
 *
 * Throws `data_dir_unusable` when the file cannot be made or locked.
 */
export function lockFile(path: string): (() => void) | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // No journal: its file would stay.
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    if (database?.isOpen) database.close();
    if (/\b(?:locked|busy)\b/i.test(messageOf(cause))) return undefined;
    throw errors.data_dir_unusable(
      `${path} cannot be locked (${messageOf(cause)}): the data directory must be writable, on a ` +
        "file system with locks",
      { cause },
    );
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

/** Whether anybody holds {@link lockFile}'s lock on a file, which is only read; true where nothing tells. */
export function isLocked(path: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    database.exec("PRAGMA busy_timeout = 0; SELECT 1 FROM sqlite_schema");
    return false;
  } catch {
    return existsNow(path);
  } finally {
    if (database?.isOpen) database.close();
  }
}
