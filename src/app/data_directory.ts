import { dirname, join } from "node:path";
import { errors, messageOf, type StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

/** Directories with decrypted files, which keep the modes that containers need. */
const PRIVATE = ["sources", "releases"];

/**
 * Makes the data directory and proves that it can be written. An earlier one may be open to others,
 * but what is in it is closed. May be called at every start.
 *
 * Throws `data_dir_unusable` naming the path: starting without it would deploy and remember nothing.
 */
export async function openDataDirectory(files: Files, path: string): Promise<void> {
  const probe = join(path, ".write-test");
  try {
    await files.makeDirectory(path, { mode: 0o700 });
    // A disk without room still takes a file without content.
    await files.write(probe, "test");
    await files.remove(probe);
    for (const name of PRIVATE) await makePrivate(files, join(path, name));
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/**
 * Proves that {@link openDataDirectory} would find the data directory usable, or could make it, and
 * leaves everything as it is. Returns whether it is there. Throws `data_dir_unusable`.
 */
export async function tryDataDirectory(files: Files, path: string): Promise<boolean> {
  let at = path;
  try {
    while (await files.stat(at) === undefined && at !== dirname(at)) at = dirname(at);
    const probe = await files.makeTemporaryDirectory(join(at, ".write-test-"));
    try {
      await files.write(join(probe, "test"), "test");
    } finally {
      await files.remove(probe);
    }
  } catch (cause) {
    throw unusable(path, cause);
  }
  return at === path;
}

function unusable(path: string, cause: unknown): StackwrightError {
  return errors.data_dir_unusable(
    `DATA_DIR ${path} cannot be written (${messageOf(cause)}): it must be a directory this user ` +
      `may write to, on a disk with free space`,
    { cause },
  );
}

/** A directory of another user cannot be closed, and is not ours to close. */
async function makePrivate(files: Files, path: string): Promise<void> {
  await files.makeDirectory(path, { mode: 0o700 });
  const info = await files.stat(path);
  if (info?.kind === "directory" && (info.mode & 0o077) !== 0) {
    await files.chmod(path, 0o700).catch(() => {});
  }
}
