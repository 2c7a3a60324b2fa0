import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Files } from "../system/mod.ts";
import type { LiveDirectory } from "./live_directory.ts";

/** Copies of files that containers changed and a newer release replaces. */
export interface KeptFiles {
  /** {@link filesDigest} of the release that the files belong to. */
  readonly base: string;
  /** What that release had brought at each path, as in its manifest. */
  readonly files: Readonly<Record<string, string>>;
}

/** Limit for a copy: each file is read into memory as a whole. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Copies of files that containers changed and a release replaces. They are put back if the release
 * is taken back, and lie where no container sees them.
 */
export class ReplacedFiles {
  readonly #files: Files;
  readonly #live: LiveDirectory;
  readonly #directory: string;

  /** `directory` holds the copies; it is created with the first one. */
  constructor(files: Files, live: LiveDirectory, directory: string) {
    this.#files = files;
    this.#live = live;
    this.#directory = directory;
  }

  /** Path of the copy of a path. */
  placeOf(path: string): string {
    return join(this.#directory, createHash("sha256").update(path).digest("hex"));
  }

  /** Copies the plain files of `paths` that differ from `tree`, after deleting earlier copies; returns which. */
  async keep(paths: readonly string[], tree: string): Promise<string[]> {
    await this.clear();
    const kept: string[] = [];
    for (const path of paths) {
      const read = (place: string) => this.#files.readPlain(place, MOST_BYTES);
      const found = await this.#live.at(path, { makes: false }, read);
      if (found === undefined || await this.#isTracked(found.data, join(tree, path))) continue;
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

  async #isTracked(data: Uint8Array, place: string): Promise<boolean> {
    const tracked = await this.#files.readPlain(place, MOST_BYTES);
    return tracked !== undefined && Buffer.compare(tracked.data, data) === 0;
  }
}
