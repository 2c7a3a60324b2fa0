import { hostname } from "node:os";
import { join } from "node:path";
import { errors } from "../model/mod.ts";
import { isLocked, lockFile } from "../record/mod.ts";
import { type Files, readText, systemProcessOwner } from "../system/mod.ts";
import { openDataDirectory } from "./data_directory.ts";

/** File that the service has locked, and the one that says who that is; only people read that. */
const [LOCK_FILE, WHO_FILE] = ["serve.lock", "serve.who"] as const;

const MOST_OF_WHO = 4096;

/**
 * Makes this process the only service of a data directory: two would each run every schedule and
 * poll. Commands beside it are not kept out. Returns a function that lets the next one in.
 *
 * Throws `settings_invalid` with the other's process id, and `data_dir_unusable`.
 */
export async function becomeOnlyService(files: Files, dir: string): Promise<() => void> {
  await openDataDirectory(files, dir);
  const path = join(dir, LOCK_FILE);
  const unlock = lockFile(path);
  if (unlock === undefined) {
    const who = (await readText(files, join(dir, WHO_FILE), MOST_OF_WHO))?.trim() ||
      "another process";
    throw errors.settings_invalid(
      `DATA_DIR ${dir} is in use by another stackwright serve (${who}): two would run every ` +
        "schedule twice; end that one first, or give this one a DATA_DIR of its own",
    );
  }
  // As the ledger: who may only read it could lock it.
  await files.chmod(path, 0o600).catch(() => {});
  const [pid] = systemProcessOwner().id.split(":");
  await files.write(join(dir, WHO_FILE), `process ${pid} on ${hostname()}\n`, { mode: 0o600 });
  return unlock;
}

/** Words for a data directory that a service used before. */
export const NOT_SERVED =
  "does not run: nothing is polled, retried or repaired until stackwright serve is started again";

/** Whether a service runs on a data directory; `undefined` where none ever did, or this user cannot see that. */
export async function isServed(
  files: Pick<Files, "stat">,
  dir: string,
): Promise<boolean | undefined> {
  const path = join(dir, LOCK_FILE);
  const found = await files.stat(path).catch(() => undefined);
  return found === undefined ? undefined : isLocked(path);
}
