import { join } from "node:path/posix";
import { isStackwrightError, shortId, utf8 } from "../../model/mod.ts";
import type { GitResult } from "./git_result.ts";
import type { GitInvocation } from "./git_command.ts";
import { isDamaged } from "./git_failure.ts";
import { mirrorError, type MirrorParts, type Wanted } from "./mirror_parts.ts";
import { localName } from "./reference.ts";
import { createPauses, type FileInfo } from "../../system/mod.ts";
import { SourceDepths } from "./source_depths.ts";

/**
 * Bytes of the list of a history, fifty thousand commits: histories of all mirrors are measured side by
 * side, since reading one can take minutes, and each list takes five times as much memory.
 */
const MOST_LISTED = 4 * 1024 * 1024;
/** Bytes of git's list of commits whose parents were not fetched: a hundred thousand of them. */
export const MOST_CUT = 4 * 1024 * 1024;
/** The depth of a history that is too long to be measured: deeper than any that can be wanted. */
export const DEEPEST = 0x7fffffff;
const MOST_DEPTHS = 100;
/** Characters of a history that are looked at before other tasks of the process get a turn. */
const AT_ONCE = 512 * 1024;
/** Characters of a commit and its parent in a history. */
const USUAL_LINE = 82;

/** The content of a mirror. Asks the disk each time: other processes may fetch into it too. */
export class MirrorContent {
  readonly #parts: MirrorParts;
  /** Depths that were measured, by commit, for this list of commits without parents. */
  readonly #depths = new Map<string, number>();
  #measuredFor = "";
  readonly #sources = new SourceDepths();

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  /** Runs a local git command in the mirror. */
  run(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    const { git, directory } = this.#parts;
    return git.local({ ...invocation, gitDir: directory }, signal);
  }

  /** Whether the mirror has the commit with the wanted depth of history. */
  async has(wanted: Wanted, id: string, signal: AbortSignal): Promise<boolean> {
    try {
      if (await this.commitId(id, signal) !== id) return false;
      const depth = await this.depthOf(id, signal);
      return depth >= depthFor(wanted) || this.#sources.hasNoMore(id, depthFor(wanted), depth);
    } catch (error) {
      if (isDamaged(error)) return false;
      throw error;
    }
  }

  /** Remembers to which depth a fetch of `wanted` led, which its source may not have. */
  async noteFetched(wanted: Wanted, id: string, signal: AbortSignal): Promise<void> {
    const depth = await this.depthOf(id, signal);
    if (depth < depthFor(wanted)) this.#sources.note(id, depthFor(wanted), depth);
  }

  /** Whether our reference of that name is at the commit, with the wanted depth of history. */
  async isCurrent(wanted: Wanted, id: string, signal: AbortSignal): Promise<boolean> {
    const known = await this.commitId(localName(wanted.name), signal);
    return known === id && await this.has(wanted, id, signal);
  }

  /** The commit that one of our references, or an id, leads to; `undefined` if the mirror lacks it. */
  async commitId(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return (await this.#parts.reader.commit(name, signal))?.id;
    } catch (error) {
      if (isDamaged(error)) return undefined;
      throw error;
    }
  }

  /**
   * Depth to which the mirror has the history of a commit; infinite when nothing is missing, and
   * {@link DEEPEST} when it is too long to be measured; 0 in a mirror that {@link isOverlong}.
   */
  async depthOf(id: string, signal: AbortSignal): Promise<number> {
    const list = await this.#cut(this.#parts.directory);
    if (list === undefined) return Number.POSITIVE_INFINITY;
    if (list.size > MOST_CUT) return 0;
    // Git never writes into the list, but puts another file in its place.
    const measuredFor = `${list.id} ${list.size} ${list.modifiedAt.getTime()}`;
    if (measuredFor !== this.#measuredFor || this.#depths.size >= MOST_DEPTHS) this.#depths.clear();
    this.#measuredFor = measuredFor;
    const known = this.#depths.get(id);
    if (known !== undefined) return known;
    const depth = await this.#measure(id, signal);
    if (measuredFor === this.#measuredFor) this.#depths.set(id, depth);
    return depth;
  }

  async #measure(id: string, signal: AbortSignal): Promise<number> {
    const { files, directory } = this.#parts;
    const cut = await files.readPlain(join(directory, "shallow"), MOST_CUT);
    // Another process has put a larger list there meanwhile, or completed the history.
    if (cut === undefined) return 0;
    const args = ["rev-list", "--parents", id];
    const listing = await this.run({ args, mostBytes: MOST_LISTED }, signal).catch((error) => {
      if (!isStackwrightError(error, "payload_too_large")) throw error;
      return undefined;
    });
    if (listing === undefined) return DEEPEST;
    if (listing.failure !== undefined) {
      throw mirrorError(this.#parts, listing, `reading the history of ${shortId(id)}`);
    }
    return await reachedDepth(id, utf8(listing.stdout), utf8(cut.data));
  }

  /** Whether parents of some commits were not fetched. */
  async isShallow(directory: string): Promise<boolean> {
    return await this.#cut(directory) !== undefined;
  }

  /**
   * Whether the list of such commits is too large to be read: servers may be shallow themselves, and
   * nothing shortens the list of a mirror.
   */
  async isOverlong(directory: string): Promise<boolean> {
    return (await this.#cut(directory) ?? { size: 0 }).size > MOST_CUT;
  }

  /** The file with git's list of the commits whose parents were not fetched, unless all were. */
  async #cut(directory: string): Promise<FileInfo | undefined> {
    const list = await this.#parts.files.stat(join(directory, "shallow"));
    return list === undefined || list.size === 0 ? undefined : list;
  }

  /** Whether nothing was fetched yet. */
  async isEmpty(directory: string): Promise<boolean> {
    return (await this.#parts.files.list(join(directory, "objects", "pack"))).length === 0;
  }

  /** Remembers a commit under our name of a remote reference, if the commit is here. */
  async keep(directory: string, name: string, id: string, signal: AbortSignal): Promise<boolean> {
    const args = ["update-ref", "--no-deref", localName(name), id];
    return (await this.#parts.git.local({ args, gitDir: directory }, signal)).failure === undefined;
  }
}

function depthFor({ depth }: Wanted): number {
  return depth === 0 ? Number.POSITIVE_INFINITY : depth;
}

/**
 * The depth of the history of `tip` in a shallow mirror: the distance to the nearest
 * commit whose parents were not fetched, counted from 1; infinite when there is none. Pauses during
 * long histories.
 *
 * `listing` is what `git rev-list --parents <tip>` prints, `shallow` git's list of such commits.
 */
export async function reachedDepth(tip: string, listing: string, shallow: string): Promise<number> {
  const pauses = createPauses(AT_ONCE);
  const cut = new Set<string>();
  for (let at = 0; at < shallow.length;) {
    const stop = shallow.indexOf("\n", at);
    const end = stop < 0 ? shallow.length : stop;
    cut.add(shallow.slice(at, end));
    await pauses.after(end + 1 - at);
    at = end + 1;
  }
  /** Where the parents of a commit begin and end in the listing. */
  const parents = new Map<string, readonly [number, number]>();
  for (let at = 0; at < listing.length;) {
    const stop = listing.indexOf("\n", at);
    const end = stop < 0 ? listing.length : stop;
    const [id = ""] = listing.slice(at, end).split(" ", 1);
    parents.set(id, [at + id.length, end]);
    await pauses.after(end + 1 - at);
    at = end + 1;
  }
  const seen = new Set([tip]);
  let level = [tip];
  for (let depth = 1; level.length > 0; depth++) {
    const next: string[] = [];
    for (const id of level) {
      if (cut.has(id)) return depth;
      for (const parent of listing.slice(...parents.get(id) ?? [0, 0]).split(" ")) {
        if (parent === "" || seen.has(parent)) continue;
        seen.add(parent);
        next.push(parent);
      }
      await pauses.after(USUAL_LINE);
    }
    level = next;
  }
  return Number.POSITIVE_INFINITY;
}
