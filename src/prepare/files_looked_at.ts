import { createHash } from "node:crypto";
import { MOST_BYTES } from "../config/mod.ts";
import type { Files } from "../system/mod.ts";

/**
 * Files with the content that a decision rests on, missing ones too. Trees are shared: another
 * deployment of the revision may decrypt a file at any time.
 */
export class FilesLookedAt {
  readonly #files: Pick<Files, "realPath" | "stat" | "readIfExists">;
  readonly #states = new Map<string, string>();
  /** States by real path: thousands of links may lead to one file, which is read once. */
  readonly #noted = new Map<string, string>();

  constructor(files: Pick<Files, "realPath" | "stat" | "readIfExists">) {
    this.#files = files;
  }

  /** Notes a file by its absolute path; call it before looking at the file. */
  async note(path: string): Promise<void> {
    if (!this.#states.has(path)) {
      this.#states.set(path, await this.#stateOf(path, this.#noted));
    }
  }

  /** What the files were when they were noted, by their paths. */
  get states(): ReadonlyMap<string, string> {
    return this.#states;
  }

  /** Whether all files are now as they were when they were noted. */
  async areSame(): Promise<boolean> {
    const now = new Map<string, string>();
    for (const [path, state] of this.#states) {
      if (await this.#stateOf(path, now) !== state) return false;
    }
    return true;
  }

  async #stateOf(path: string, known: Map<string, string>): Promise<string> {
    const real = await this.#files.realPath(path);
    if (real === undefined) return "missing";
    const state = known.get(real) ?? await this.#read(real);
    known.set(real, state);
    return state;
  }

  async #read(real: string): Promise<string> {
    const info = await this.#files.stat(real);
    if (info?.kind !== "file") return info?.kind ?? "missing";
    // A larger one is refused.
    if (info.size > MOST_BYTES) return `${info.size} bytes`;
    const bytes = await this.#files.readIfExists(real, MOST_BYTES) ?? "";
    return createHash("sha256").update(bytes).digest("base64");
  }
}
