import { join, resolve } from "node:path";
import { insideTree } from "../compose/mod.ts";
import type { Files } from "../system/mod.ts";

/** The place that a path leads to once its links are resolved. */
interface RealPlace {
  /** The place itself; `undefined` when nothing is there, or a link leads to nothing. */
  readonly real: string | undefined;
  /** The same below the tree, `.` for its root; `undefined` also for what links lead out of it. */
  readonly inside: string | undefined;
}

/**
 * The files of a revision, or of a stack's live directory, as they really lie: whoever writes them may
 * put links there, and what these lead to outside of it belongs to the host, or to us.
 */
export class RealTree {
  /** Its own directory, as it was given. */
  readonly path: string;
  readonly #files: Pick<Files, "realPath" | "stat">;
  #root: string | undefined;

  constructor(files: Pick<Files, "realPath" | "stat">, path: string) {
    this.#files = files;
    this.path = path;
  }

  /** The place that a path leads to; it is absolute, or relative to the tree. */
  async at(path: string): Promise<RealPlace> {
    const real = await this.#files.realPath(resolve(this.path, path));
    return { real, inside: real === undefined ? undefined : insideTree(real, await this.root()) };
  }

  /** Whether a path leads to something that lies elsewhere. Nothing is nowhere. */
  async leadsOut(path: string): Promise<boolean> {
    const { real, inside } = await this.at(path);
    return real !== undefined && inside === undefined;
  }

  /** Whether a path of the tree is a link that leads nowhere. */
  async isDangling(path: string): Promise<boolean> {
    return (await this.at(path)).real === undefined && await this.isLink(path);
  }

  /** Whether the last part of a path of the tree is a link. */
  async isLink(path: string): Promise<boolean> {
    return (await this.#files.stat(join(this.path, path)))?.kind === "symlink";
  }

  /** The directory with links resolved. */
  async root(): Promise<string> {
    return this.#root ??= await this.#files.realPath(this.path) ?? this.path;
  }
}
