import { dirname, join } from "node:path/posix";
import { errors } from "../../model/mod.ts";
import { onDisk } from "../disk_error.ts";
import type { GitResult } from "./git_result.ts";
import type { GitInvocation } from "./git_command.ts";
import { isTooLarge } from "./git_failure.ts";
import { MirrorAccess } from "./mirror_access.ts";
import { MirrorContent, MOST_CUT } from "./mirror_content.ts";
import { MirrorExchange } from "./mirror_exchange.ts";
import { MirrorHealth } from "./mirror_health.ts";
import { removeNewObjects, removeStaleLocks } from "./mirror_locks.ts";
import { mirrorError, type MirrorParts, type MirrorRequest, type Wanted } from "./mirror_parts.ts";
import { isReference, localName, namesOf, parseReference } from "./reference.ts";
import { pickRef, type RemoteRef, type RemoteRefs } from "./remote_refs.ts";
import { askRemote, missingReference } from "./remote_question.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { noteUse } from "./unused_mirrors.ts";

/** Milliseconds between two writes of the time at which a mirror was used. */
const NOTED_EVERY_MS = 10 * 60 * 1000;

/** The commit that a reference names now. */
interface Resolved {
  /** Full name where known, or the commit id. */
  readonly reference: string;
  readonly id: string;
}

/**
 * One bare mirror: never checked out, only ever growing. One fetch at a time runs in it within this
 * process; between processes git's own locks keep references and the shallow list whole, and packs
 * are named after their content.
 */
export class Mirror {
  readonly #parts: MirrorParts;
  readonly #content: MirrorContent;
  readonly #exchange: MirrorExchange;
  readonly #health: MirrorHealth;
  readonly #access: MirrorAccess;
  #notedAt = 0;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
    this.#content = new MirrorContent(parts);
    this.#exchange = new MirrorExchange(parts, this.#content);
    this.#health = new MirrorHealth(parts);
    this.#access = new MirrorAccess(parts);
  }

  get directory(): string {
    return this.#parts.directory;
  }

  /** Finds the commit that a reference names now. An unchanged one costs one question to the remote. */
  async resolve(request: MirrorRequest, signal: AbortSignal): Promise<Resolved> {
    const reference = parseReference(request.reference);
    if (reference.kind === "commit") {
      const id = await this.#ensure({ ...request, name: reference.id }, reference.id, signal);
      // In any case: git asks nobody for the id of a tag that is here, and another request, or another
      // process, may have fetched it while this one waited for its turn.
      const wanted = { ...request, name: id, isSearched: true };
      const search = (all: AbortSignal) => this.#exclusive(all, () => this.#fetch(wanted, all));
      await this.#access.require(request, id, search, signal);
      return { reference: reference.id, id };
    }
    const candidates = namesOf(reference);
    const refs = await askRemote(this.#parts, request, candidates, signal);
    const picked = pickRef(refs, candidates);
    if (picked === undefined) throw await missingReference(this.#parts, request, signal);
    this.#refuseSha256(picked);
    this.#access.note(request.url, picked.id);
    const name = picked.name === "HEAD" ? branchOf(refs) : picked.name;
    const id = await this.#ensure({ ...request, name }, picked.id, signal);
    return { reference: name, id };
  }

  /** The commit that a reference named at its last fetch; `undefined` for `HEAD`, which is not kept. */
  async lastKnown(text: string, signal: AbortSignal): Promise<Resolved | undefined> {
    const reference = parseReference(text);
    if (reference.kind === "head") return undefined;
    const names = reference.kind === "commit" ? [reference.id] : reference.candidates;
    for (const name of names) {
      const id = await this.#content.commitId(localName(name), signal);
      if (id !== undefined) return { reference: name, id };
    }
    return undefined;
  }

  /** Makes sure that the commit of this name is in the mirror. */
  async fetchCommit(wanted: Wanted, signal: AbortSignal): Promise<void> {
    await this.#ensure(wanted, wanted.name, signal);
  }

  /**
   * Repairs a mirror that turned out to be damaged or gone while `id` was read: the commit is
   * fetched if it is missing, else everything is fetched anew beside the old mirror; not again and again.
   */
  async repair(url: RepositoryUrl, id: string, signal: AbortSignal): Promise<void> {
    const wanted: Wanted = { url, name: id, depth: 0 };
    await this.#exclusive(signal, async () => {
      const isHere = await this.#content.commitId(id, signal) !== undefined;
      await (isHere ? this.#rebuild(wanted, signal) : this.#fetch(wanted, signal));
    });
  }

  /** Runs a local git command in the mirror. */
  run(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    return this.#content.run(invocation, signal);
  }

  /** Whether nothing is missing from the history of a commit. */
  async hasWholeHistory(id: string, signal: AbortSignal): Promise<boolean> {
    return await this.#content.depthOf(id, signal) === Number.POSITIVE_INFINITY;
  }

  /** Fetches unless the mirror has all of `wanted`; returns the commit id, maybe newer than `id`. */
  async #ensure(wanted: Wanted, id: string, signal: AbortSignal): Promise<string> {
    await this.#noteUse();
    if (await this.#content.isCurrent(wanted, id, signal)) return id;
    return await this.#exclusive(signal, async () => {
      // The previous holder of the lock may have fetched the commit, under this name or another.
      const isHere = await this.#content.has(wanted, id, signal);
      if (isHere && await this.#content.keep(this.directory, wanted.name, id, signal)) return id;
      if (!isHere && await this.#exchange.fetchSmall(wanted, id, signal)) return id;
      return await this.#fetch(wanted, signal);
    });
  }

  /** Marks the mirror as used, often enough for the removal of unused mirrors. */
  async #noteUse(): Promise<void> {
    const { clock, files } = this.#parts;
    const now = clock.now().getTime();
    if (Math.abs(now - this.#notedAt) < NOTED_EVERY_MS) return;
    this.#notedAt = now;
    await noteUse(files, this.directory);
  }

  #refuseSha256(picked: RemoteRef): void {
    if (picked.id.length === 40) return;
    throw errors.unsupported(
      `${this.#parts.name} is a SHA-256 repository; only SHA-1 repositories are supported`,
    );
  }

  #exclusive<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const { lock, directory } = this.#parts;
    return lock.run(directory, () => onDisk(directory, task), signal);
  }

  /** Fetches into the mirror, or beside it when the mirror turns out to be damaged or cut off too often. */
  async #fetch(wanted: Wanted, signal: AbortSignal): Promise<string> {
    const isOverlong = () => this.#content.isOverlong(this.directory);
    const id = await isOverlong() ? undefined : await this.#fetchHere(wanted, signal);
    if (id === undefined || await isOverlong()) {
      return await this.#makeAnew(wanted, signal, `lists more than ${MOST_CUT} bytes of ${CUT}`);
    }
    await this.#content.noteFetched(wanted, id, signal);
    return id;
  }

  async #fetchHere(wanted: Wanted, signal: AbortSignal): Promise<string> {
    // File times lag behind the clock by a tick.
    const started = new Date(this.#parts.clock.now().getTime() - 50);
    try {
      await this.#exchange.prepare(this.directory, signal);
      const id = await this.#exchange.fetchInto(this.directory, wanted, signal);
      return id;
    } catch (error) {
      if (await this.#health.isDamaged(error, signal)) return await this.#rebuild(wanted, signal);
      // A killed git leaves its lock files, which nobody else would ever remove.
      const { files } = this.#parts;
      await removeStaleLocks(files, this.directory, (madeAt) => madeAt >= started);
      if (isTooLarge(error)) await removeNewObjects(files, this.directory, started);
      throw error;
    }
  }

  /** Makes a damaged mirror anew unless that was done not long ago. */
  async #rebuild(wanted: Wanted, signal: AbortSignal): Promise<string> {
    return await this.#health.repairing(() => this.#makeAnew(wanted, signal, "is damaged"));
  }

  /** Makes the mirror anew beside the unusable one, proves that it is whole, and swaps them. */
  async #makeAnew(wanted: Wanted, signal: AbortSignal, why: string): Promise<string> {
    const { files, git, log, name, reader } = this.#parts;
    log?.warning(`the mirror of ${name} ${why}; it is fetched anew`, { repository: name });
    const parent = dirname(this.directory);
    await files.makeDirectory(parent);
    const place = await files.makeTemporaryDirectory(join(parent, ".tmp-mirror-"));
    try {
      const fresh = join(place, "mirror");
      await this.#exchange.prepare(fresh, signal);
      const id = await this.#fetchFresh(fresh, wanted, signal);
      const args = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
      const check = await git.local({ args, gitDir: fresh, by: wanted.url.by }, signal);
      if (check.failure !== undefined) {
        // It was just made: nothing but what came can be damaged.
        const failure = check.failure === "corrupt" ? "bad_remote" : check.failure;
        throw mirrorError(this.#parts, { ...check, failure }, "checking the new mirror");
      }
      await reader.close();
      if (await files.stat(this.directory) !== undefined) {
        await files.rename(this.directory, join(place, "damaged"));
      }
      await files.rename(fresh, this.directory);
      await reader.close();
      await this.#content.noteFetched(wanted, id, signal);
      return id;
    } finally {
      await files.remove(place);
    }
  }

  /** Fetches into a new mirror; with the whole history where that of `wanted` is cut off too often. */
  async #fetchFresh(fresh: string, wanted: Wanted, signal: AbortSignal): Promise<string> {
    for (const depth of new Set([wanted.depth, 0])) {
      const id = await this.#exchange.fetchInto(fresh, { ...wanted, depth }, signal);
      if (!await this.#content.isOverlong(fresh)) return id;
    }
    throw errors.source_invalid(
      `${this.#parts.name} is itself a shallow repository with more than ${MOST_CUT} bytes of ${CUT}: ` +
        "git fetch --unshallow there completes it",
    );
  }
}

/** What git's list of a shallow repository has. */
const CUT = "commits whose parents were not fetched";

/** The branch that `HEAD` leads to. Checked, because the remote chooses this text and git gets it. */
function branchOf({ head = "" }: RemoteRefs): string {
  return head.startsWith("refs/") && isReference(head) ? head : "HEAD";
}
