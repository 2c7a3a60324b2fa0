import { damagedError } from "./git_failure.ts";
import type { ObjectReader } from "./object_reader.ts";
import type { TreeEntry } from "../source.ts";
import { MOST_ENTRIES, parseTreeObject, tooManyEntries } from "./tree_object.ts";

/** Most cached commits and directories. Ids stand for content, so entries never become stale. */
const MOST_REMEMBERED = 4096;
/**
 * Entries above which a directory is cached apart, together at most {@link MOST_ENTRIES} of them: more
 * would fill this process's memory, and with fewer a directory would be read again for each file.
 */
const LARGE_DIRECTORY = 1000;

/** Finds paths in commits by walking tree objects: no process, no checkout, nothing to escape. */
export class RevisionReader {
  readonly #objects: ObjectReader;
  readonly #directories = new Map<string, ReadonlyMap<string, TreeEntry>>();
  readonly #roots = new Map<string, string>();
  readonly #large = new Map<string, ReadonlyMap<string, TreeEntry>>();
  /** Sizes of the large directories that were read, by commit. */
  readonly #sizes = new Map<string, Map<string, number>>();

  constructor(objects: ObjectReader) {
    this.#objects = objects;
  }

  /**
   * The entry at `path` of a commit, links not followed; `undefined` when there is none. Throws
   * `source_invalid` when the directories on the way show that the tree has too many entries.
   */
  async find(commit: string, path: string, signal: AbortSignal): Promise<TreeEntry | undefined> {
    const names = namesOf(path);
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
    const object = await this.#objects.read(`${commit}^{tree}`, signal);
    if (object === undefined) throw damagedError(`the mirror does not have the commit ${commit}`);
    remember(this.#roots, commit, object.id);
    this.#keep(object.id, await parseTreeObject(object.data));
    return object.id;
  }

  /** The entries of one directory, by name. */
  async directory(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, TreeEntry>> {
    const known = this.#large.get(id) ?? this.#directories.get(id);
    if (known !== undefined) return known;
    const entries = await parseTreeObject((await this.#object(id, signal)).data);
    this.#keep(id, entries);
    return entries;
  }

  #keep(id: string, entries: ReadonlyMap<string, TreeEntry>): void {
    if (entries.size <= LARGE_DIRECTORY) return remember(this.#directories, id, entries);
    this.#large.set(id, entries);
    let total = [...this.#large.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [oldest, { size }] of this.#large) {
      if (total <= MOST_ENTRIES) break;
      this.#large.delete(oldest);
      total -= size;
    }
  }

  /** Bounds lookups by path as the listing bounds deployments: huge trees would take hours. */
  #count(commit: string, directory: string, size: number): void {
    if (size <= LARGE_DIRECTORY) return;
    const sizes = this.#sizes.get(commit) ?? new Map<string, number>();
    if (sizes.size === 0) remember(this.#sizes, commit, sizes);
    const total = [...sizes.set(directory, size).values()].reduce((sum, each) => sum + each, 0);
    if (total > MOST_ENTRIES) throw tooManyEntries();
  }

  /** The bytes of a file. */
  async content(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return (await this.#object(id, signal)).data;
  }

  /** Forgets everything, because the mirror was replaced. */
  forget(): void {
    this.#directories.clear();
    this.#large.clear();
    this.#roots.clear();
  }

  async #object(id: string, signal: AbortSignal) {
    const object = await this.#objects.read(id, signal);
    if (object === undefined) throw damagedError(`the mirror lacks the object ${id}`);
    return object;
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((each) => each !== "" && each !== ".");
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size <= MOST_REMEMBERED) return;
  const oldest = map.keys().next().value;
  if (oldest !== undefined) map.delete(oldest);
}
