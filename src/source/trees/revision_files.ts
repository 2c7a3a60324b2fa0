import { partsOfPath, type SourceLocation } from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { tooLargeFile } from "../too_large_file.ts";
import { withRepair } from "../git/repository.ts";
import type { TreeEntry } from "../source.ts";
import type { TreePart } from "./expanded_tree.ts";
import { type HowToReach, type PartPath, SubmodulePaths } from "./submodule_paths.ts";

/** Cost of one entry of a listing in characters, for the pauses. */
const ENTRY = 10;

/** A revision as the first part of its tree. */
export interface FirstPart {
  readonly source: SourceLocation;
  readonly part: TreePart;
}

/** Reads files of revisions by path, those of submodules too, without a tree on disk. */
export class RevisionFiles {
  readonly #submodules: SubmodulePaths;

  constructor(options: HowToReach) {
    this.#submodules = new SubmodulePaths(options);
  }

  /** The bytes of a file; `undefined` when there is none. Refuses one that is larger than `mostBytes`. */
  async read(
    first: FirstPart,
    path: string,
    signal: AbortSignal,
    mostBytes: number,
  ): Promise<Uint8Array | undefined> {
    const inside = await this.#partOf(first, path, { orIs: false, signal });
    const { paths } = inside.part.repository;
    return await withRepair(inside.part, signal, async () => {
      const entry = await paths.find(inside.part.commit, inside.path, signal);
      if (entry?.kind !== "file" && entry?.kind !== "executable") return undefined;
      const size = await paths.size(entry.id, signal);
      if (size > mostBytes) throw tooLargeFile(path, size, mostBytes);
      return await paths.content(entry.id, size, signal);
    });
  }

  /** The entries at paths, without those that are not there. */
  async entries(
    first: FirstPart,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>> {
    const found = new Map<string, TreeEntry>();
    const pauses = createPauses();
    for (const path of paths) {
      // What is known already is found without a wait that would let others work.
      await pauses.after(path.length);
      const { part, path: rest } = await this.#partOf(first, path, { orIs: false, signal });
      const find = () => part.repository.paths.find(part.commit, rest, signal);
      const entry = await withRepair(part, signal, find);
      if (entry !== undefined) found.set(path, entry);
    }
    return found;
  }

  /** Everything below a path, or the one entry at it, by path from the root of the tree. */
  async list(
    first: FirstPart,
    path: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>> {
    const { part, path: root } = await this.#partOf(first, path, { orIs: true, signal });
    return await withRepair(part, signal, async () => {
      const entry = await part.repository.paths.find(part.commit, root, signal);
      if (entry === undefined) return new Map();
      const whole = part.prefix + root;
      if (entry.kind !== "directory") return new Map([[whole, entry]]);
      const prefix = whole === "" || whole.endsWith("/") ? whole : `${whole}/`;
      const { commit, repository: { listings } } = part;
      const listed = await listings.below({ commit, path: root, id: entry.id }, signal);
      const found = new Map<string, TreeEntry>();
      const pauses = createPauses();
      for (const [below, { kind, id }] of listed) {
        found.set(prefix + below, { kind, id });
        await pauses.after(ENTRY);
      }
      return found;
    });
  }

  #partOf(
    { source, part }: FirstPart,
    path: string,
    how: { readonly orIs: boolean; readonly signal: AbortSignal },
  ): Promise<PartPath> {
    const root = partsOfPath(path).join("/");
    return this.#submodules.find(part, source, root, how);
  }
}
