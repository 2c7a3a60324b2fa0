import { join } from "node:path";
import { messageOf, StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

/**
 * Makes the data directory and proves that it can be written. May be called at every start.
 *
 * Throws `data_dir_unusable` naming the path: starting without it would deploy and remember nothing.
 */
export async function openDataDirectory(files: Files, path: string): Promise<void> {
  const probe = join(path, ".write-test");
  try {
    await files.makeDirectory(path, { mode: 0o700 });
    await files.write(probe, "");
    await files.remove(probe);
  } catch (cause) {
    throw new StackwrightError(
      "data_dir_unusable",
      `DATA_DIR ${path} cannot be written (${
        messageOf(cause)
      }): it must be a directory this user may ` +
        `write to, on a disk with free space`,
      { cause },
    );
  }
}
