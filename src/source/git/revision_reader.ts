import { partsOfPath, utf8 } from "../../model/mod.ts";
import { keepLatest } from "../../system/mod.ts";
import { damagedError } from "./git_failure.ts";
import type { ObjectReader } from "./object_reader.ts";
import type { TreeEntry } from "../source.ts";
import { type OwnTrees, TreeCache } from "./tree_cache.ts";
import { MOST_ENTRIES, parseTreeObject, tooManyEntries } from "./tree_object.ts";

/** Most commits whose root directories are remembered, and most whose large directories are counted. */
const [MOST_ROOTS, MOST_COUNTED] = [1024, 64] as const;
/** Bytes of the first line of a commit. */
const HEADER_BYTES = 64;
/** Entries above which a directory counts towards those that a tree may have. */
const LARGE_DIRECTORY = 1000;

/** Finds paths in commits by walking tree objects: no process, no checkout, nothing to escape. */
export class RevisionReader {
  readonly #objects: ObjectReader;
  readonly #directories: OwnTrees<TreeEntry>;
  readonly #roots = new Map<string, string>();
  /** Sizes of the large directories that were read, by commit. */
  readonly #sizes = new Map<string, Map<string, number>>();

  /** A reader that caches directories in its part of a cache that repositories share. */
  constructor(objects: ObjectReader, directories = new TreeCache<TreeEntry>().part()) {
    this.#objects = objects;
    this.#directories = directories;
  }

  /**
   * The entry at `path` of a commit, links not followed; `undefined` when there is none. Throws
   * `source_invalid` when the directories on the way show that the tree has too many entries.
   */
  async find(commit: string, path: string, signal: AbortSignal): Promise<TreeEntry | undefined> {
    const names = partsOfPath(path);
    const root: TreeEntry = { kind: "directory", id: await this.root(commit, signal) };
    return [root, ...await this.way(commit, names, signal)][names.length];
  }

  /**
   * The entries on the way to a path, that of its first name first; ends where there is none, or no
   * directory. Looks at each directory once. Throws like `find`.
   */
  async way(commit: string, names: readonly string[], signal: AbortSignal): Promise<TreeEntry[]> {
    const found: TreeEntry[] = [];
    let entry: TreeEntry | undefined = { kind: "directory", id: await this.root(commit, signal) };
    for (const name of names) {
      if (entry.kind !== "directory") break;
      const entries = await this.directory(entry.id, signal);
      this.#count(commit, entry.id, entries.size);
      entry = entries.get(name);
      if (entry === undefined) break;
      found.push(entry);
    }
    return found;
  }

  /** Id of the root directory of a commit. Throws the error of a damaged mirror that lacks the commit. */
  async root(commit: string, signal: AbortSignal): Promise<string> {
    const known = this.#roots.get(commit);
    if (known !== undefined) return known;
    const info = await this.#objects.commit(commit, signal);
    if (info === undefined) throw damagedError(`the mirror does not have the commit ${commit}`);
    // Asked for `<commit>^{tree}`, git would keep both in its memory.
    const { data } = await this.#objects.contents(info, signal);
    const [, id] = /^tree ([0-9a-f]{40})\n/.exec(utf8(data.subarray(0, HEADER_BYTES))) ?? [];
    if (id === undefined) throw damagedError(`the mirror has no tree of the commit ${commit}`);
    return keepLatest(this.#roots, MOST_ROOTS, commit, id);
  }

  /** The entries of one directory, by name. */
  async directory(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, TreeEntry>> {
    const known = this.#directories.get(id);
    if (known !== undefined) return known;
    const info = await this.#info(id, signal);
    const entries = await this.#objects.contents(info, signal, ({ data }) => parseTreeObject(data));
    this.#directories.keep(id, entries);
    return entries;
  }

  /** Bounds lookups by path as the listing bounds deployments: huge trees would take hours. */
  #count(commit: string, directory: string, size: number): void {
    if (size <= LARGE_DIRECTORY) return;
    const sizes = this.#sizes.get(commit) ?? new Map<string, number>();
    if (sizes.size === 0) keepLatest(this.#sizes, MOST_COUNTED, commit, sizes);
    const total = [...sizes.set(directory, size).values()].reduce((sum, each) => sum + each, 0);
    if (total > MOST_ENTRIES) throw tooManyEntries();
  }

  /** The bytes of a file, whose size is known. */
  async content(id: string, size: number, signal: AbortSignal): Promise<Uint8Array> {
    return (await this.#objects.contents({ id, type: "blob", size }, signal)).data;
  }

  /** The size of a file, of whose content nothing is read. */
  async size(id: string, signal: AbortSignal): Promise<number> {
    return (await this.#info(id, signal)).size;
  }

  /** Forgets everything, because the mirror was replaced. */
  forget(): void {
    this.#directories.forget();
    this.#roots.clear();
    this.#sizes.clear();
  }

  async #info(name: string, signal: AbortSignal) {
    const info = await this.#objects.info(name, signal);
    if (info === undefined) throw damagedError(`the mirror lacks the object ${name}`);
    return info;
  }
}
