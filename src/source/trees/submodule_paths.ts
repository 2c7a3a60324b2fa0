import { keepLatest } from "../../system/mod.ts";
import { withRepair } from "../git/repository.ts";
import { openSubmodule } from "./open_submodules.ts";
import type { ExpandOptions, TreePart } from "./expanded_tree.ts";

/** Submodules that stay open for reading by path; a commit of a parent has few. */
const MOST_PARTS = 256;

/** A path in the part of a tree that it lies in. */
export interface PartPath {
  readonly part: TreePart;
  /** From the root of the part; empty for the root itself. */
  readonly path: string;
}

/** Finds the submodules that paths of commits lie in, without a tree on disk. */
export class SubmodulePaths {
  readonly #options: HowToReach;
  readonly #parts = new Map<string, TreePart>();

  constructor(options: HowToReach) {
    this.#options = options;
  }

  /**
   * The part that `path` lies in, and the path inside it; the source itself (`first`) when no submodule
   * that may be entered is on the way. `orIs` also enters a submodule whose root is `path`. Fetches
   * missing commits.
   *
   * Throws what fetching throws, with the path of the submodule in front.
   */
  async find(
    first: TreePart,
    source: CommitSource,
    path: string,
    { orIs, signal }: { readonly orIs: boolean; readonly signal: AbortSignal },
  ): Promise<PartPath> {
    const options = this.#options(source, first.commit);
    let found: PartPath = { part: first, path };
    for (let level = 0; options.submodules; level++) {
      const { part, part: { repository: { mirror }, commit, prefix } } = found;
      const root = await withRepair(part, signal, () => moduleOn(found, orIs, signal));
      if (root === undefined) return found;
      const key = [mirror.directory, commit, prefix, root.path].join("\0");
      const open = (all: AbortSignal) => openSubmodule(part, { ...root, level }, options, all);
      const next = this.#parts.get(key) ?? await options.within(open, signal);
      if (next === undefined) return found;
      keepLatest(this.#parts, MOST_PARTS, key, next);
      found = { part: next, path: found.path.slice(root.path.length + 1) };
    }
    return found;
  }
}

type CommitSource = ExpandOptions["source"];

/** Tells how the submodules of a commit of a source are reached. */
export type HowToReach = (
  source: CommitSource,
  commit: string,
) => Omit<ExpandOptions, "onUnknown">;

/** The first submodule on a path. */
async function moduleOn(
  { part, path }: PartPath,
  orIs: boolean,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly commit: string } | undefined> {
  const names = path.split("/").filter((name) => name !== "");
  const asked = orIs ? names : names.slice(0, -1);
  const way = await part.repository.paths.way(part.commit, asked, signal);
  const last = way.at(-1);
  if (last?.kind !== "submodule") return undefined;
  return { path: names.slice(0, way.length).join("/"), commit: last.id };
}
