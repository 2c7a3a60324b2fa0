import { dirname, join } from "node:path/posix";
import { errors, utf8 } from "../../model/mod.ts";
import type { GitResult } from "./git_result.ts";
import {
  fetchArgs,
  type FetchDepth,
  type GitInvocation,
  lsRemoteTipsArgs,
  MIRROR_ATTRIBUTES,
} from "./git_command.ts";
import { DEEPEST, type MirrorContent } from "./mirror_content.ts";
import { removeStaleLocks } from "./mirror_locks.ts";
import { mirrorError, type MirrorParts, type Wanted } from "./mirror_parts.ts";
import { localName, SEARCH } from "./reference.ts";
import { MOST_BYTES } from "./remote_question.ts";
import { remoteInRoom } from "./remote_in_room.ts";
import { parseRemoteRefs } from "./remote_refs.ts";
import { isMirror, isTemporary } from "./unused_mirrors.ts";

/**
 * Fetches from the remote into a mirror or, while a damaged one is replaced, into the directory
 * beside it. The caller makes sure that only one fetch at a time runs in a directory.
 */
export class MirrorExchange {
  readonly #parts: MirrorParts;
  readonly #content: MirrorContent;

  constructor(parts: MirrorParts, content: MirrorContent) {
    this.#parts = parts;
    this.#content = content;
  }

  /** Makes an empty mirror where there is none; removes what a killed git left in an existing one. */
  async prepare(directory: string, signal: AbortSignal): Promise<void> {
    const { files } = this.#parts;
    if (await files.stat(join(directory, "HEAD")) === undefined) {
      await this.#removeFormer(signal);
      await files.makeDirectory(directory);
      const args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", directory];
      const result = await this.#parts.git.local({ args }, signal);
      if (result.failure !== undefined) {
        throw mirrorError(this.#parts, result, `making ${directory}`);
      }
    } else await this.#tidy(directory);
    await files.makeDirectory(join(directory, "info"));
    const attributes = join(directory, "info", "attributes");
    if (await files.stat(attributes) === undefined) {
      await files.write(attributes, MIRROR_ATTRIBUTES);
    }
  }

  async #removeFormer(signal: AbortSignal): Promise<void> {
    const { files, lock, directory } = this.#parts;
    const source = dirname(dirname(directory));
    await lock.run(source, async () => {
      for (const each of ["mirror", "submodules"].map((name) => join(source, name))) {
        for (const name of await files.list(each)) {
          if (!isMirror(name) && !isTemporary(name)) await files.remove(join(each, name));
        }
      }
    }, signal);
  }

  /** Fetches the wanted reference or commit; returns the commit that it leads to now. */
  async fetchInto(directory: string, wanted: Wanted, signal: AbortSignal): Promise<string> {
    if (wanted.isSearched) {
      await this.#search(directory, wanted, signal);
      return await this.#fetched(directory, wanted, signal);
    }
    const isCommit = /^[0-9a-f]{40}$/.test(wanted.name);
    const refspec = `+${wanted.name}:${localName(wanted.name)}`;
    const depth = await this.#chooseDepth(directory, wanted, signal);
    const args = fetchArgs(wanted.url.remote, [refspec], depth);
    const result = await this.#exchange(directory, wanted, { args }, signal);
    if (result.failure === "unwanted" && isCommit) {
      await this.#search(directory, wanted, signal);
    } else if (result.failure !== undefined) {
      throw mirrorError(this.#parts, result, `fetching ${wanted.name}`);
    }
    return await this.#fetched(directory, wanted, signal);
  }

  /**
   * Fetches the next commit of a branch over HTTP without `git fetch`, into a mirror with full history.
   * False when that is not possible and git has to fetch.
   */
  async fetchSmall({ url, name }: Wanted, want: string, signal: AbortSignal): Promise<boolean> {
    const { git, directory, files, clock } = this.#parts;
    if (!name.startsWith("refs/heads/") || await this.#content.isShallow(directory)) {
      return false;
    }
    const have = await this.#content.commitId(localName(name), signal);
    if (have === undefined) return false;
    await this.#tidy(directory);
    // File times lag behind the clock by a tick.
    const started = new Date(clock.now().getTime() - 50);
    let isThere: boolean | undefined = false;
    try {
      isThere = await git.fetchPack({ url, gitDir: directory, want, have }, signal);
    } finally {
      // A failed index-pack leaves half a pack, which nothing else might remove for months. Without a
      // started index-pack the new files belong to another process that fetches too.
      if (isThere === false) {
        await removeStaleLocks(files, directory, (madeAt) => madeAt >= started);
      }
    }
    return isThere === true && await this.#content.keep(directory, name, want, signal);
  }

  /** Removes lock files and half packs of a git that was killed with an earlier process. */
  async #tidy(directory: string): Promise<void> {
    const { files, clock } = this.#parts;
    const aMinuteAgo = new Date(clock.now().getTime() - 60_000);
    await removeStaleLocks(files, directory, (madeAt) => madeAt < aMinuteAgo);
  }

  async #exchange(
    directory: string,
    { url }: Wanted,
    invocation: GitInvocation,
    signal: AbortSignal,
  ): Promise<GitResult> {
    const isNew = await this.#content.isEmpty(directory);
    return await remoteInRoom(this.#parts, { directory, url, isNew }, invocation, signal);
  }

  /** A mirror never loses history: a full one stays full, a shallow one is only ever deepened. */
  async #chooseDepth(directory: string, wanted: Wanted, signal: AbortSignal): Promise<FetchDepth> {
    if (await this.#content.isEmpty(directory)) return commits(wanted.depth);
    if (!await this.#content.isShallow(directory)) return { kind: "as_is" };
    if (wanted.depth === 0) return { kind: "all" };
    const before = await this.#content.commitId(localName(wanted.name), signal);
    const reached = before === undefined ? 0 : await this.#content.depthOf(before, signal);
    // What is new of a history that is too long to be measured: the rest may be larger than a fetch.
    return commits(reached >= DEEPEST ? 0 : Math.max(reached, wanted.depth));
  }

  async #fetched(directory: string, wanted: Wanted, signal: AbortSignal): Promise<string> {
    const name = localName(wanted.name);
    const id = directory === this.#parts.directory
      ? await this.#content.commitId(name, signal)
      : await this.#commitIn(directory, name, signal);
    if (id !== undefined) return id;
    throw errors.reference_not_found(
      `${wanted.name} of ${this.#parts.name} is no commit; name a branch, a tag or a commit`,
    );
  }

  /** The commit in a new mirror, which the object reader of the old one cannot see. */
  async #commitIn(directory: string, name: string, signal: AbortSignal) {
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
    const result = await this.#parts.git.local({ args, gitDir: directory }, signal);
    const id = utf8(result.stdout).trim();
    return result.failure === undefined && /^[0-9a-f]{40}$/.test(id) ? id : undefined;
  }

  /**
   * Searches all branches and tags for a commit that the server does not hand out by its id. That it is
   * here tells nothing: a request with another login may have fetched it.
   */
  async #search(directory: string, wanted: Wanted, signal: AbortSignal): Promise<void> {
    const tips = await this.#tips(directory, wanted, signal);
    // By their ids: git looks each name up among all names.
    const stdin = [...tips].map((id) => `+${id}:${SEARCH}/${id}\n`).join("");
    if (await this.#isIn(directory, wanted.name, tips, signal)) return;
    for (const depth of tips.size === 0 ? [] : await this.#searchDepths(directory, wanted.depth)) {
      const args = fetchArgs(wanted.url.remote, [], depth);
      const result = await this.#exchange(directory, wanted, { args, stdin }, signal);
      if (result.failure !== undefined) {
        throw mirrorError(this.#parts, result, `searching ${wanted.name}`);
      }
      if (await this.#isIn(directory, wanted.name, tips, signal)) return;
      if (!await this.#content.isShallow(directory)) break;
    }
    throw errors.reference_not_found(
      `the commit ${wanted.name} is not in any branch or tag of ${this.#parts.name}; ` +
        "was it pushed, and is it the right repository?",
    );
  }

  /** Keeps a commit that is here, and tells whether those of `tips` that are here lead to it. */
  async #isIn(directory: string, id: string, tips: ReadonlySet<string>, signal: AbortSignal) {
    if (!await this.#content.keep(directory, id, id, signal)) return false;
    const args = ["rev-list", "--max-count=1", "--ignore-missing", "--stdin"];
    const stdin = [id, ...[...tips].map((tip) => `^${tip}`), ""].join("\n");
    const result = await this.#parts.git.local({ args, stdin, gitDir: directory }, signal);
    if (result.failure !== undefined) throw mirrorError(this.#parts, result, `searching ${id}`);
    return result.stdout.length === 0;
  }

  /**
   * The objects that branches and tags lead to; forgets those of earlier searches. Each is a file on
   * disk, and each part of a name would be a directory: a server may list any number, of any depth.
   */
  async #tips(directory: string, { url, name }: Wanted, signal: AbortSignal) {
    const { files, git } = this.#parts;
    const invocation = { args: lsRemoteTipsArgs(url.remote), mostBytes: MOST_BYTES };
    const result = await git.remote(url, invocation, signal);
    if (result.failure !== undefined) throw mirrorError(this.#parts, result, `searching ${name}`);
    const { ids } = parseRemoteRefs(utf8(result.stdout));
    const tips = new Set([...ids.values()].filter((id) => /^[0-9a-f]{40}$/.test(id)));
    const place = join(directory, SEARCH);
    for (const old of await files.list(place)) {
      if (!tips.has(old)) await files.remove(join(place, old));
    }
    return tips;
  }

  async #searchDepths(directory: string, depth: number): Promise<FetchDepth[]> {
    const isShallow = await this.#content.isShallow(directory);
    if (!isShallow && (depth === 0 || !await this.#content.isEmpty(directory))) {
      return [{ kind: "as_is" }];
    }
    if (depth === 0) return [{ kind: "all" }];
    return [commits(depth), commits(depth * 2), commits(depth * 4), { kind: "all" }];
  }
}

/** 0 commits means no limit. */
function commits(count: number): FetchDepth {
  return count === 0 ? { kind: "as_is" } : { kind: "commits", count };
}
