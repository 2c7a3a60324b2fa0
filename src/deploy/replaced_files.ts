import { createHash } from "node:crypto";
import { join } from "node:path";
import { errors, type StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";
import { type FilesRecord, replacedPaths, type ShownRelease } from "./files_record.ts";
import { isAsWritten } from "./is_as_written.ts";
import type { LiveDirectory } from "./live_directory.ts";

/** Limit for a copy: each file is read into memory as a whole. */
const MOST_MEBIBYTES = 64;

/** Where the record of a stack's files and their copies lie, and the link to the tree in use. */
interface Directories {
  readonly stack: string;
  readonly current: string;
}

/**
 * Files that containers changed or made and a release replaces. Copies of them are put back if the
 * release is taken back, and lie where no container sees them.
 */
export class ReplacedFiles {
  readonly #files: Files;
  readonly #live: LiveDirectory;
  readonly #directories: Directories;
  readonly #directory: string;

  /** Copies are in a directory below `stack`, which is created with the first one. */
  constructor(files: Files, live: LiveDirectory, directories: Directories) {
    this.#files = files;
    this.#live = live;
    this.#directories = directories;
    this.#directory = join(directories.stack, "replaced");
  }

  /** Paths at which `release`, whose tree is at `tree`, replaces files of containers. */
  async theirs(
    earlier: FilesRecord,
    tree: string,
    release: Pick<ShownRelease, "live">,
  ): Promise<string[]> {
    const theirs: string[] = [];
    for (const path of replacedPaths(earlier.live, release.live)) {
      if (await this.isTheirs(path, earlier, tree)) theirs.push(path);
    }
    return theirs;
  }

  /** Whether a file is the containers': it differs from what was written there, and from what `tree` has. */
  async isTheirs(path: string, earlier: FilesRecord | undefined, tree?: string): Promise<boolean> {
    const { stack, current } = this.#directories;
    // After a switch that broke off, the record names the tree that it led to.
    const written = earlier?.current ? [join(stack, earlier.current)] : [];
    const trees = [current, ...written, ...(tree === undefined ? [] : [tree])];
    const sources = trees.map((each) => join(each, path));
    const look = (place: string) => isAsWritten(this.#files, place, sources);
    return await this.#live.at(path, { makes: false }, look) === false;
  }

  /** Path of the copy of a path. */
  placeOf(path: string): string {
    return join(this.#directory, createHash("sha256").update(path).digest("hex"));
  }

  /**
   * Copies the plain files of `paths`, after deleting earlier copies; returns which. Leaves out those that
   * are too large, whose text of the release before comes back; throws `data_dir_unusable` for one that
   * `isOnlyTheirs`.
   */
  async keep(
    paths: readonly string[],
    isOnlyTheirs: (path: string) => boolean,
  ): Promise<string[]> {
    await this.clear();
    const kept: string[] = [];
    for (const path of paths) {
      const found = await this.#live.at(path, { makes: false }, async (place) => {
        const plain = await this.#files.readPlain(place, MOST_MEBIBYTES * 1024 * 1024);
        if (plain !== undefined || !isOnlyTheirs(path)) return plain;
        if ((await this.#files.stat(place))?.kind === "file") throw tooLargeToKeep(path);
        return undefined;
      });
      if (found === undefined) continue;
      await this.#files.makeDirectory(this.#directory, { mode: 0o700 });
      await this.#files.write(this.placeOf(path), found.data, { mode: found.mode });
      // The process's umask reduces the mode given at creation.
      await this.#files.chmod(this.placeOf(path), found.mode);
      kept.push(path);
    }
    return kept;
  }

  async clear(): Promise<void> {
    const isThere = await this.#files.stat(this.#directory) !== undefined;
    if (isThere) await this.#files.remove(this.#directory);
  }
}

function tooLargeToKeep(path: string): StackwrightError {
  return errors.data_dir_unusable(
    `the commit has a file at ${path}, where containers made one of more than ${MOST_MEBIBYTES} MiB: too ` +
      "large to keep a copy that would be put back if the release failed, so nothing was changed; move " +
      "it away, or take that path out of the commit",
  );
}
