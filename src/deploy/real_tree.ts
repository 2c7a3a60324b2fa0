import { join, resolve } from "node:path";
import { insideTree } from "../compose/mod.ts";
import type { Files } from "../system/mod.ts";

/** The place that a path leads to once its links are resolved. */
interface RealPlace {
  /** Real path; `undefined` when nothing is there, or a link is dangling. */
  readonly real: string | undefined;
  /** The same relative to the tree, `.` for its root; `undefined` also when it lies outside. */
  readonly inside: string | undefined;
}

/**
 * The files of a revision, or of a stack's live directory, with links resolved: their authors may
 * put links there to files of the host, or of Stackwright.
 */
export class RealTree {
  /** The tree's directory, as it was given. */
  readonly path: string;
  readonly #files: Pick<Files, "realPath" | "stat">;
  #root: string | undefined;

  constructor(files: Pick<Files, "realPath" | "stat">, path: string) {
    this.#files = files;
    this.path = path;
  }

  /** The place that a path leads to; the path is absolute, or relative to the tree. */
  async at(path: string): Promise<RealPlace> {
    const real = await this.#files.realPath(resolve(this.path, path));
    return { real, inside: real === undefined ? undefined : insideTree(real, await this.root()) };
  }

  /** Whether a path leads to an existing place outside of the tree. */
  async leadsOut(path: string): Promise<boolean> {
    const { real, inside } = await this.at(path);
    return real !== undefined && inside === undefined;
  }

  /**
   * Whether a path relative to the tree, or what is made there later, lies in it. A link to what is not
   * there counts as leading out: the host of our container may have it.
   */
  async holds(path: string): Promise<boolean> {
    const { real, inside } = await this.at(path);
    if (real !== undefined) return inside !== undefined;
    let at = "";
    for (const part of path.split("/")) {
      at = join(at, part);
      const info = await this.#files.stat(join(this.path, at));
      if (info === undefined) return true;
      if (info.kind === "symlink" && (await this.at(at)).inside === undefined) return false;
    }
    return true;
  }

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
