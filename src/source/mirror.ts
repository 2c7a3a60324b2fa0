import { dirname, join } from "node:path/posix";
import { isStackwrightError, shortId, StackwrightError } from "../model/mod.ts";
import type { Clock, Files, Log } from "../system/mod.ts";
import { onDisk } from "./disk_error.ts";
import type { Git, GitResult } from "./git.ts";
import {
  fetchArgs,
  type FetchDepth,
  fetchPruningArgs,
  type GitInvocation,
  lsRemoteArgs,
  MIRROR_ATTRIBUTES,
} from "./git_command.ts";
import { damagedError, isDamaged } from "./git_failure.ts";
import { reachedDepth } from "./history_depth.ts";
import type { KeyedQueue } from "./keyed_queue.ts";
import { removeStaleLocks } from "./mirror_locks.ts";
import type { ObjectReader } from "./object_reader.ts";
import { isAbbreviatedId, localName, nearestNames, parseReference } from "./reference.ts";
import { parseRemoteRefs, pickRef, type RemoteRef, type RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** What a mirror is made of. */
export interface MirrorParts {
  readonly git: Git;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log | undefined;
  /** Shared by all mirrors; the key is the directory. */
  readonly queue: KeyedQueue;
  readonly reader: ObjectReader;
  readonly directory: string;
  /** Name of the repository for messages. */
  readonly name: string;
}

/** Where and how deep to look. */
export interface MirrorRequest {
  readonly url: RepositoryUrl;
  readonly reference: string;
  /** Commits of history; 0 is all of it. */
  readonly depth: number;
}

/** What a reference names now. */
export interface Resolved {
  /** Full where known. */
  readonly reference: string;
  readonly id: string;
}

/** What one fetch is for. */
interface Wanted {
  readonly url: RepositoryUrl;
  /** Full name on the remote, or a commit id. */
  readonly name: string;
  readonly depth: number;
}

/** Holds what commit searches found; only a search writes there. */
const SEARCH = "refs/stackwright-search";

/**
 * One bare mirror: never checked out, only ever growing. One fetch at a time runs in it within this
 * process; between processes git's own locks keep references and the shallow list whole, and packs
 * are named after their content.
 */
export class Mirror {
  readonly #parts: MirrorParts;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
  }

  get directory(): string {
    return this.#parts.directory;
  }

  /** Finds what a reference names now. An unchanged one costs one question to the remote. */
  async resolve(request: MirrorRequest, signal: AbortSignal): Promise<Resolved> {
    const reference = parseReference(request.reference);
    if (reference.kind === "commit") {
      const id = await this.#ensure({ ...request, name: reference.id }, reference.id, signal);
      return { reference: reference.id, id };
    }
    const candidates = reference.kind === "head" ? ["HEAD"] as const : reference.candidates;
    const refs = await this.#ask(request.url, [...candidates], signal);
    const picked = pickRef(refs, candidates);
    if (picked === undefined) throw await this.#notThere(request, signal);
    this.#refuseSha256(picked);
    const name = picked.name === "HEAD" ? refs.head ?? "HEAD" : picked.name;
    const id = await this.#ensure({ ...request, name }, picked.id, signal);
    return { reference: name, id };
  }

  /** Makes sure that a commit is in the mirror. */
  async fetchCommit(url: RepositoryUrl, id: string, depth: number, signal: AbortSignal) {
    await this.#ensure({ url, name: id, depth }, id, signal);
  }

  /**
   * Repairs a mirror that turned out to be damaged or gone while `id` was read: the commit is
   * fetched if it is missing, else everything is fetched anew beside the old mirror.
   */
  async repair(url: RepositoryUrl, id: string, signal: AbortSignal): Promise<void> {
    const wanted: Wanted = { url, name: id, depth: 0 };
    await this.#exclusive(signal, async () => {
      if (await this.#commitId(id, signal) !== undefined) {
        await this.#rebuild(wanted, signal);
        return;
      }
      try {
        await this.#fetch(wanted, signal);
      } catch (error) {
        // The network and the remote were fine, so what failed is the mirror.
        if (!isStackwrightError(error, "source_invalid")) throw error;
        await this.#rebuild(wanted, signal);
      }
    });
  }

  /** Runs a local git command in the mirror. */
  run(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    return this.#parts.git.local({ ...invocation, gitDir: this.directory }, signal);
  }

  /** Whether nothing is missing from the history of a commit. */
  async hasWholeHistory(id: string, signal: AbortSignal): Promise<boolean> {
    return await this.#depthOf(id, signal) === Number.POSITIVE_INFINITY;
  }

  async #ask(url: RepositoryUrl, names: string[], signal: AbortSignal): Promise<RemoteRefs> {
    const patterns = names.flatMap((name) =>
      name.startsWith("refs/tags/") ? [name, `${name}^{}`] : [name]
    );
    const args = lsRemoteArgs(url.remote, patterns);
    const result = await this.#parts.git.remote(url, { args }, signal);
    if (result.failure !== undefined) throw this.#error(result, "asking for the references");
    return parseRemoteRefs(new TextDecoder().decode(result.stdout));
  }

  #refuseSha256(picked: RemoteRef): void {
    if (picked.id.length === 40) return;
    throw new StackwrightError(
      "unsupported",
      `${this.#parts.name} is a SHA-256 repository; only SHA-1 repositories are supported`,
    );
  }

  /** Fetches unless the mirror has it all; returns the commit id, which may be newer than `id`. */
  async #ensure(wanted: Wanted, id: string, signal: AbortSignal): Promise<string> {
    if (await this.#isCurrent(wanted, id, signal)) return id;
    return await this.#exclusive(signal, async () => {
      // Whoever came before us may have fetched it, under this name or another.
      const isHere = await this.#has(wanted, id, signal);
      if (isHere && await this.#keep(this.directory, wanted.name, id, signal)) return id;
      return await this.#fetch(wanted, signal);
    });
  }

  async #isCurrent(wanted: Wanted, id: string, signal: AbortSignal): Promise<boolean> {
    const known = await this.#commitId(localName(wanted.name), signal);
    return known === id && await this.#has(wanted, id, signal);
  }

  /** Whether the commit is here with as much history as is wanted. */
  async #has(wanted: Wanted, id: string, signal: AbortSignal): Promise<boolean> {
    try {
      if (await this.#commitId(id, signal) !== id) return false;
      const depth = await this.#depthOf(id, signal);
      return wanted.depth === 0 ? depth === Number.POSITIVE_INFINITY : depth >= wanted.depth;
    } catch (error) {
      if (isDamaged(error)) return false;
      throw error;
    }
  }

  async #commitId(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return (await this.#parts.reader.read(`${name}^{commit}`, signal))?.id;
    } catch (error) {
      if (isDamaged(error)) return undefined;
      throw error;
    }
  }

  async #depthOf(id: string, signal: AbortSignal): Promise<number> {
    const shallow = await this.#shallow(this.directory);
    if (shallow === "") return Number.POSITIVE_INFINITY;
    const listing = await this.run({ args: ["rev-list", "--parents", id] }, signal);
    if (listing.failure !== undefined) {
      throw this.#error(listing, `reading the history of ${shortId(id)}`);
    }
    return reachedDepth(id, new TextDecoder().decode(listing.stdout), shallow);
  }

  async #shallow(directory: string): Promise<string> {
    const bytes = await this.#parts.files.readIfExists(join(directory, "shallow"));
    return new TextDecoder().decode(bytes ?? new Uint8Array()).trim();
  }

  #exclusive<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const { queue, directory } = this.#parts;
    return queue.run(directory, signal, () => onDisk(directory, task));
  }

  /** Fetches into the mirror, or beside it when the mirror turns out to be damaged. */
  async #fetch(wanted: Wanted, signal: AbortSignal): Promise<string> {
    // File times lag behind the clock by a tick.
    const started = new Date(this.#parts.clock.now().getTime() - 50);
    try {
      await this.#prepare(this.directory, signal);
      return await this.#fetchInto(this.directory, wanted, signal);
    } catch (error) {
      if (isDamaged(error)) return await this.#rebuild(wanted, signal);
      // A killed git leaves its lock files, which nobody else would ever remove.
      await removeStaleLocks(this.#parts.files, this.directory, (madeAt) => madeAt >= started);
      throw error;
    }
  }

  async #prepare(directory: string, signal: AbortSignal): Promise<void> {
    const { files, clock } = this.#parts;
    if (await files.stat(join(directory, "HEAD")) === undefined) {
      await files.makeDirectory(directory);
      const args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", directory];
      const result = await this.#parts.git.local({ args }, signal);
      if (result.failure !== undefined) throw this.#error(result, `making ${directory}`);
    } else {
      const aMinuteAgo = new Date(clock.now().getTime() - 60_000);
      await removeStaleLocks(files, directory, (madeAt) => madeAt < aMinuteAgo);
    }
    await files.makeDirectory(join(directory, "info"));
    const attributes = join(directory, "info", "attributes");
    if (await files.stat(attributes) === undefined) {
      await files.write(attributes, MIRROR_ATTRIBUTES);
    }
  }

  async #fetchInto(directory: string, wanted: Wanted, signal: AbortSignal): Promise<string> {
    const isCommit = /^[0-9a-f]{40}$/.test(wanted.name);
    const refspec = `+${wanted.name}:${localName(wanted.name)}`;
    const depth = await this.#chooseDepth(directory, wanted, signal);
    const result = await this.#exchange(directory, wanted.url, {
      args: fetchArgs(wanted.url.remote, [refspec], depth),
    }, signal);
    if (result.failure === "unwanted" && isCommit) {
      await this.#search(directory, wanted, signal);
    } else if (result.failure !== undefined) {
      throw this.#error(result, `fetching ${wanted.name}`);
    }
    return await this.#fetched(directory, wanted, signal);
  }

  #exchange(directory: string, url: RepositoryUrl, invocation: GitInvocation, signal: AbortSignal) {
    return this.#parts.git.remote(url, { ...invocation, gitDir: directory }, signal);
  }

  /** A mirror never loses history: a full one stays full, a shallow one is only ever deepened. */
  async #chooseDepth(
    directory: string,
    wanted: Wanted,
    signal: AbortSignal,
  ): Promise<FetchDepth> {
    if (await this.#isEmpty(directory)) return commits(wanted.depth);
    if (await this.#shallow(directory) === "") return { kind: "as_is" };
    if (wanted.depth === 0) return { kind: "all" };
    const before = await this.#commitId(localName(wanted.name), signal);
    const reached = before === undefined ? 0 : await this.#depthOf(before, signal);
    return commits(reached === Number.POSITIVE_INFINITY ? 0 : Math.max(reached, wanted.depth));
  }

  /** The commit that was fetched, asked without the reader: `directory` may be a new mirror. */
  async #fetched(directory: string, wanted: Wanted, signal: AbortSignal): Promise<string> {
    const name = `${localName(wanted.name)}^{commit}`;
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
    const result = await this.#parts.git.local({ args, gitDir: directory }, signal);
    const id = new TextDecoder().decode(result.stdout).trim();
    if (result.failure === undefined && /^[0-9a-f]{40}$/.test(id)) return id;
    throw new StackwrightError(
      "reference_not_found",
      `${wanted.name} of ${this.#parts.name} is no commit; name a branch, a tag or a commit`,
    );
  }

  /** Looks for a commit the server does not hand out by its id: in the history of everything. */
  async #search(directory: string, wanted: Wanted, signal: AbortSignal): Promise<void> {
    const refspecs = [`+refs/heads/*:${SEARCH}/heads/*`, `+refs/tags/*:${SEARCH}/tags/*`];
    for (const depth of await this.#searchDepths(directory, wanted.depth)) {
      const args = fetchPruningArgs(wanted.url.remote, refspecs, depth);
      const result = await this.#exchange(directory, wanted.url, { args }, signal);
      if (result.failure !== undefined) throw this.#error(result, `searching ${wanted.name}`);
      if (await this.#keep(directory, wanted.name, wanted.name, signal)) return;
      if (await this.#shallow(directory) === "") break;
    }
    throw new StackwrightError(
      "reference_not_found",
      `the commit ${wanted.name} is not in any branch or tag of ${this.#parts.name}; ` +
        "was it pushed, and is it the right repository?",
    );
  }

  async #searchDepths(directory: string, depth: number): Promise<FetchDepth[]> {
    const isShallow = await this.#shallow(directory) !== "";
    if (!isShallow && (depth === 0 || !await this.#isEmpty(directory))) return [{ kind: "as_is" }];
    if (depth === 0) return [{ kind: "all" }];
    return [commits(depth), commits(depth * 2), commits(depth * 4), { kind: "all" }];
  }

  async #isEmpty(directory: string): Promise<boolean> {
    return (await this.#parts.files.list(join(directory, "objects", "pack"))).length === 0;
  }

  /** Remembers a commit under our name of a remote reference, if the commit is here. */
  async #keep(
    directory: string,
    name: string,
    id: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const args = ["update-ref", "--no-deref", localName(name), id];
    return (await this.#parts.git.local({ args, gitDir: directory }, signal)).failure === undefined;
  }

  /** Makes the mirror anew beside the damaged one, proves that it is whole, and swaps them. */
  async #rebuild(wanted: Wanted, signal: AbortSignal): Promise<string> {
    const { files, git, log, name, reader } = this.#parts;
    log?.warning(`the mirror of ${name} is damaged; it is fetched anew`, { repository: name });
    const parent = dirname(this.directory);
    await files.makeDirectory(parent);
    const place = await files.makeTemporaryDirectory(join(parent, ".tmp-mirror-"));
    try {
      const fresh = join(place, "mirror");
      await this.#prepare(fresh, signal);
      const id = await this.#fetchInto(fresh, wanted, signal);
      const args = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
      const check = await git.local({ args, gitDir: fresh }, signal);
      if (check.failure !== undefined) throw this.#error(check, "checking the new mirror");
      await reader.close();
      if (await files.stat(this.directory) !== undefined) {
        await files.rename(this.directory, join(place, "damaged"));
      }
      await files.rename(fresh, this.directory);
      await reader.close();
      return id;
    } finally {
      await files.remove(place);
    }
  }

  /** The error for a missing reference, with what the remote has that is near. */
  async #notThere(request: MirrorRequest, signal: AbortSignal): Promise<StackwrightError> {
    const { name } = this.#parts;
    const refs = await this.#ask(request.url, [], signal);
    const names = [...refs.ids.keys()].filter((each) =>
      /^refs\/(?:heads|tags)\//.test(each) && !each.endsWith("^{}")
    );
    const asked = JSON.stringify(request.reference);
    const hint = names.length === 0
      ? "it is empty: push a branch first"
      : isAbbreviatedId(request.reference)
      ? "abbreviated commit ids are not supported: give all 40 digits"
      : near(request.reference, names);
    return new StackwrightError(
      "reference_not_found",
      `${name} has no reference ${asked}; ${hint}`,
    );
  }

  #error(result: GitResult, doing: string): StackwrightError {
    return this.#parts.git.error(result, `${doing} of ${this.#parts.name}`);
  }
}

function near(wanted: string, names: readonly string[]): string {
  const found = nearestNames(wanted, names);
  if (found.length > 0) return `did you mean ${found.join(", ")}?`;
  const some = [...names].sort().slice(0, 5).join(", ");
  return `it has ${some}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
}

/** 0 commits means no limit. */
function commits(count: number): FetchDepth {
  return count === 0 ? { kind: "as_is" } : { kind: "commits", count };
}

/** Throws the error of a failed local command as damage when the command had only valid input. */
export function requireSuccess(result: GitResult, doing: string): GitResult {
  if (result.failure === undefined) return result;
  throw damagedError(`${doing} failed: ${result.stderr.trim().slice(0, 300)}`);
}
