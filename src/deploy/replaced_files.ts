import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Files } from "../system/mod.ts";
import type { LiveDirectory } from "./live_directory.ts";

/** Files that a release replaces, as containers of the one before had left them. */
export interface KeptFiles {
  /** Tells the release that they belong to, as the record of files on disk does. */
  readonly base: string;
  /** What the release had brought at each path. */
  readonly files: Readonly<Record<string, string>>;
}

/** A larger file is not kept: it is read as a whole. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Copies of files that containers wrote to and that a release replaces, until it proved good: when it
 * is taken back, they are put back, too. No container sees them.
 */
export class ReplacedFiles {
  readonly #files: Files;
  readonly #live: LiveDirectory;
  readonly #directory: string;

  /** `directory` is where copies lie; it is made when there is something to keep. */
  constructor(files: Files, live: LiveDirectory, directory: string) {
    this.#files = files;
    this.#live = live;
    this.#directory = directory;
  }

  /** Where the copy of a path lies. */
  placeOf(path: string): string {
    return join(this.#directory, createHash("sha256").update(path).digest("hex"));
  }

  /**
   * Copies those of the paths whose plain files are others than `tree` has, and forgets all earlier
   * copies. Returns the paths that were copied.
   */
  async keep(paths: readonly string[], tree: string): Promise<string[]> {
    await this.clear();
    const kept: string[] = [];
    for (const path of paths) {
      const read = (place: string) => this.#files.readPlain(place, MOST_BYTES);
      const found = await this.#live.at(path, { makes: false }, read);
      if (found === undefined || await this.#isTracked(found.data, join(tree, path))) continue;
      await this.#files.makeDirectory(this.#directory, { mode: 0o700 });
      await this.#files.write(this.placeOf(path), found.data, { mode: found.mode });
      // What it was created with is less by the process's umask.
      await this.#files.chmod(this.placeOf(path), found.mode);
      kept.push(path);
    }
    return kept;
  }

  /** Forgets all copies. */
  async clear(): Promise<void> {
    const isThere = await this.#files.stat(this.#directory) !== undefined;
    if (isThere) await this.#files.remove(this.#directory);
  }

  async #isTracked(data: Uint8Array, place: string): Promise<boolean> {
    const tracked = await this.#files.readPlain(place, MOST_BYTES);
    return tracked !== undefined && Buffer.compare(tracked.data, data) === 0;
  }
}
