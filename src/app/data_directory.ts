import { dirname, join } from "node:path";
import { errors, messageOf, type StackwrightError } from "../model/mod.ts";
import { type Files, withTemporaryDirectory } from "../system/mod.ts";

/** Directories that may have decrypted files, whose own modes have to suit containers. */
const PRIVATE = ["sources", "releases"];

/**
 * Makes the data directory and checks that it can be written. An existing directory keeps its mode,
 * but directories in it with decrypted files are made private. May be called at every start.
 *
 * Throws `data_dir_unusable` with the path: starting without it would deploy and remember nothing.
 */
export async function openDataDirectory(files: Files, path: string): Promise<void> {
  const probe = join(path, ".write-test");
  try {
    await files.makeDirectory(path, { mode: 0o700 });
    // Not empty: a full disk still takes an empty file.
    await files.write(probe, "test");
    await files.remove(probe);
    for (const name of PRIVATE) await makePrivate(files, join(path, name));
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** Checks that {@link openDataDirectory} could do its work; returns whether there is one. */
export async function tryDataDirectory(files: Files, path: string): Promise<boolean> {
  let at = path;
  try {
    while (await files.stat(at) === undefined && at !== dirname(at)) at = dirname(at);
    const write = (probe: string) => files.write(join(probe, "test"), "test");
    await withTemporaryDirectory(files, join(at, ".write-test-"), write);
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

/** Makes a directory private, unless it belongs to another user: that is not ours to change. */
async function makePrivate(files: Files, path: string): Promise<void> {
  await files.makeDirectory(path, { mode: 0o700 });
  const info = await files.stat(path);
  if (info?.kind === "directory" && (info.mode & 0o077) !== 0) {
    await files.chmod(path, 0o700).catch(() => {});
  }
}
