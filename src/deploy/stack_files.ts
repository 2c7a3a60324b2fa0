import { join, relative } from "node:path";
import { insideTree } from "../compose/mod.ts";
import {
  errors,
  type LiveManifest,
  messageOf,
  own,
  type StackKey,
  type StackOwner,
  StackwrightError,
} from "../model/mod.ts";
import type { FileInfo, Files } from "../system/mod.ts";
import {
  between,
  type DataOwner,
  filesDigest,
  type FilesRecord,
  type KeptFiles,
  readFilesRecord,
  replacedPaths,
  type ShownRelease,
  writeFilesRecord,
} from "./files_record.ts";
import { LiveDirectory } from "./live_directory.ts";
import { pathsBelow, requireLiveInside } from "./live_inside.ts";
import { ReplacedFiles } from "./replaced_files.ts";

/** Directories of a stack below a data directory. */
interface StackDirectories {
  readonly stack: string;
  readonly current: string;
  readonly live: string;
  /** The directory `live` as the engine's host sees it; by default the same. */
  readonly mounted?: string;
}

/** Notes that a tree is about to be put in place; the returned function notes that it is. */
type NoteSwitch = (tree: string) => () => void;

/** What the record has of a file that no release brought. */
const MADE_BY_THEM = "";

/** Directory with those of all stacks, in a data directory. */
const RELEASES = "releases";

/** The directories of a stack in a data directory. */
export function stackDirectories(dataDir: string, key: StackKey): StackDirectories {
  const stack = join(dataDir, RELEASES, key.context, key.name);
  return { stack, current: join(stack, "current"), live: join(stack, "live") };
}

/** A path in one of the directories of a stack that its containers see. */
interface StackPlace {
  readonly key: StackKey;
  readonly kind: "current" | "live";
  /** The path in that directory; `.` for itself. */
  readonly path: string;
}

/** The reverse of {@link stackDirectories}, by how a path is written; `undefined` for any other. */
export function stackPlaceOf(dataDir: string, written: string): StackPlace | undefined {
  const [context = "", name = "", kind, ...path] =
    insideTree(written, join(dataDir, RELEASES))?.split("/") ?? [];
  if (kind !== "current" && kind !== "live") return undefined;
  return { key: { context, name }, kind, path: path.join("/") || "." };
}

/** The path in the `live` of a stack with this name in any data directory; `undefined` for others. */
export function livePathOf(written: string, name: string): string | undefined {
  const parts = written.split("/");
  const at = parts.findLastIndex((part, at) =>
    part === "live" && parts[at - 1] === name && parts[at - 3] === RELEASES
  );
  return at < 0 ? undefined : parts.slice(at + 1).join("/") || ".";
}

/** The files that a stack's containers see: `current`, a link to a release's tree, and writable `live`. */
export class StackFiles {
  readonly #files: Files;
  readonly #directories: StackDirectories;
  readonly #noteSwitch: NoteSwitch;
  readonly #owner: () => StackOwner | undefined;
  readonly #live: LiveDirectory;
  readonly #replaced: ReplacedFiles;

  /**
   * `noteSwitch` is called before every switch, before any file changes; nothing by default.
   * `owner` tells whose the stack is, for its record.
   */
  constructor(
    files: Files,
    directories: StackDirectories,
    noteSwitch: NoteSwitch = () => () => {},
    owner: () => StackOwner | undefined = () => undefined,
  ) {
    this.#files = files;
    this.#directories = directories;
    this.#noteSwitch = noteSwitch;
    this.#owner = owner;
    this.#live = new LiveDirectory(files, directories.live);
    this.#replaced = new ReplacedFiles(files, this.#live, directories);
  }

  /**
   * Makes the stack's files those of `release`, whose tree is at `tree`. The files there now are
   * read from their record, or taken from `before` where an old version of Stackwright left no
   * record. May be called again after an interruption.
   *
   * Throws `data_dir_unusable` when the disk refuses, and `path_escapes`, having changed nothing, when a
   * container put a link in the place of a mount in `live`.
   */
  async switchTo(tree: string, release: ShownRelease, before: LiveManifest): Promise<void> {
    const { stack, current } = this.#directories;
    try {
      await this.requireInside(release);
      await this.#files.makeDirectory(stack);
      const done = this.#noteSwitch(tree);
      const earlier = await readFilesRecord(this.#files, stack);
      const known = earlier?.live ?? before;
      const kept = await this.#keep(earlier, tree, release);
      const after = await this.#withTheirs(release.live, { earlier, known, kept });
      // Relative, because the host may see the data directory at another path.
      const link = relative(stack, tree);
      const deployedFor = this.#ownerOf(release) ?? earlier?.deployedFor;
      const record = (live: LiveManifest, shows: string) =>
        writeFilesRecord(this.#files, stack, {
          live,
          shows,
          current: link,
          ...(kept === undefined ? {} : { kept }),
          ...(deployedFor && { deployedFor }),
        });
      await record(between(known, after), "");
      const source = async (path: string) => {
        const copy = this.#replaced.placeOf(path);
        const isBack = own(kept?.files ?? {}, path) === own(after.files, path) &&
          await this.#files.stat(copy) !== undefined;
        return isBack ? copy : join(tree, path);
      };
      await this.#updateLive(source, known, after);
      await record(after, filesDigest(release));
      await this.#files.replaceLink(link, current);
      done();
    } catch (cause) {
      if (cause instanceof StackwrightError) throw cause;
      throw errors.data_dir_unusable(
        `the files of ${stack} could not be switched to the new release: ${messageOf(cause)}`,
        { cause },
      );
    }
  }

  /**
   * Checks that no container put a link in the place of a mount in `live`, which the engine would follow
   * to any place of its host. Throws `path_escapes`.
   */
  async requireInside({ model }: ShownRelease): Promise<void> {
    const { live, mounted = live } = this.#directories;
    if (model) await requireLiveInside(this.#files, live, pathsBelow(model, mounted));
  }

  /** Whether the files on disk are a release's; assumed without a record, as old versions leave none. */
  async show(release: ShownRelease): Promise<boolean> {
    const { stack, current } = this.#directories;
    const record = await readFilesRecord(this.#files, stack);
    if (record === undefined) return true;
    if (record.shows !== filesDigest(release)) return false;
    return record.current === await this.#files.readLink(current);
  }

  /** Deletes copies of replaced files, once the release proved good or the previous one is back. */
  async settle(): Promise<void> {
    const { stack } = this.#directories;
    const { kept, ...record } = await readFilesRecord(this.#files, stack) ?? {};
    if (kept === undefined) return;
    await writeFilesRecord(this.#files, stack, record as FilesRecord);
    await this.#replaced.clear();
  }

  #ownerOf({ revision }: ShownRelease): DataOwner | undefined {
    const owner = this.#owner();
    if (owner === undefined || revision === undefined) return undefined;
    const { source, reference } = owner;
    return { source, reference, repository: revision.source.name };
  }

  /** Paths at which `release`, whose tree is at `tree`, replaces files of containers; none of a first release. */
  async replaces(tree: string, release: ShownRelease): Promise<string[]> {
    const earlier = await readFilesRecord(this.#files, this.#directories.stack);
    if (earlier === undefined) return [];
    // What the disk refuses, the switch tells.
    return await this.#replaced.theirs(earlier, tree, release).catch(() => []);
  }

  /**
   * Keeps what containers wrote and `release` replaces, for a rollback. Existing copies stay when a
   * release is begun again, and during the rollback itself.
   */
  async #keep(
    earlier: FilesRecord | undefined,
    tree: string,
    release: ShownRelease,
  ): Promise<KeptFiles | undefined> {
    const goal = filesDigest(release);
    const { shows: base = "", kept } = earlier ?? {};
    if (earlier === undefined || base === "" || base === goal || kept?.base === goal) return kept;
    const { files } = earlier.live;
    const theirs = await this.#replaced.theirs(earlier, tree, release);
    const paths = await this.#replaced.keep(theirs, (path) => !own(files, path));
    if (paths.length === 0) return undefined;
    return {
      base,
      files: Object.fromEntries(paths.map((path) => [path, own(files, path) ?? MADE_BY_THEM])),
    };
  }

  /**
   * The manifest of a release with the files of containers that it does not have: those that differ from
   * what was written there, and those that one which is taken back replaced.
   */
  async #withTheirs(
    live: LiveManifest,
    { earlier, known, kept }: {
      readonly earlier: FilesRecord | undefined;
      readonly known: LiveManifest;
      readonly kept: KeptFiles | undefined;
    },
  ): Promise<LiveManifest> {
    const files = { ...known.files, ...kept?.files };
    const replaced = new Set(replacedPaths({ ...known, files }, live));
    const theirs: [string, string][] = [];
    for (const [path, content] of Object.entries(files)) {
      if (replaced.has(path) || own(live.files, path) !== undefined) continue;
      const isBack = own(kept?.files ?? {}, path) !== undefined;
      if (isBack || await this.#replaced.isTheirs(path, earlier)) theirs.push([path, content]);
    }
    return { ...live, files: { ...Object.fromEntries(theirs), ...live.files } };
  }

  /**
   * Updates tracked files. A file unchanged upstream keeps what a container wrote into it; files that
   * containers made stay.
   */
  async #updateLive(
    source: (path: string) => Promise<string>,
    before: LiveManifest,
    after: LiveManifest,
  ): Promise<void> {
    for (const path of Object.keys(before.files)) {
      if (own(after.files, path) === undefined) await this.#remove(path);
    }
    for (const directory of after.directories) {
      // The directory stands in for a path missing in the source; anything already there is better.
      if (!await this.#isThere(directory)) await this.#live.makeDirectory(directory);
    }
    for (const [path, content] of Object.entries(after.files)) {
      if (own(before.files, path) === content && await this.#isThere(path)) continue;
      await this.#copy(await source(path), path);
    }
  }

  /**
   * Leaves a directory where the release had a file: a container made it, maybe while this looks, and
   * so deep that removing it would end the process.
   */
  async #remove(path: string): Promise<void> {
    await this.#live.at(path, { makes: false }, (place) => this.#files.removeOne(place));
  }

  async #isThere(path: string): Promise<boolean> {
    const look = async (place: string) => await this.#files.stat(place) !== undefined;
    return await this.#live.at(path, { makes: false }, look) === true;
  }

  async #copy(from: string, to: string): Promise<void> {
    const info = await this.#files.stat(from);
    if (info === undefined) return;
    // A submodule that is not fetched.
    if (info.kind === "directory") return await this.#live.makeDirectory(to);
    await this.#live.at(to, { makes: true }, (place) => this.#put(from, info, place));
  }

  async #put(from: string, info: FileInfo, place: string): Promise<void> {
    // An empty directory stands in for what the source lacked.
    await this.#files.removeEmpty(place);
    if (info.kind === "symlink") {
      await this.#files.replaceLink(await this.#files.readLink(from) ?? "", place);
    } else {
      await this.#copyFile(from, place, info.mode);
    }
  }

  /**
   * Writes in place, because a mount of a single file holds its inode and would not see a file
   * renamed over it. Replaces what is no plain file or cannot be written. Reads in pieces, because
   * a repository's files may be larger than memory.
   */
  async #copyFile(from: string, to: string, mode: number): Promise<void> {
    const data = () => this.#files.readInPieces(from);
    const there = await this.#files.stat(to);
    if (there?.kind !== "file") return await this.#files.write(to, data(), { mode });
    try {
      await this.#files.writeInPlace(to, data(), { mode });
    } catch (error) {
      const code = (error as { code?: string }).code ?? "";
      if (!["EACCES", "EPERM", "ETXTBSY", "ELOOP", "ENXIO"].includes(code)) throw error;
      await this.#files.write(to, data(), { mode });
    }
  }
}
