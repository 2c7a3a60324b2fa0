import type { Revision, SourceLocation } from "../model/mod.ts";
import { createKeyedLock, DiskShares, keepLatest, type KeyedLock } from "../system/mod.ts";
import { Ancestry, type IsAncestor } from "./git/ancestry.ts";
import { Git } from "./git/git.ts";
import { GitAccess } from "./git/git_access.ts";
import { isDamaged } from "./git/git_failure.ts";
import { createLayout, type GitLayout } from "./trees/layout.ts";
import { refuseOutsideRoot, refuseOwnData } from "./git/local_repository.ts";
import { createMirrorStore, type MirrorStore } from "./git/mirror_store.ts";
import type { CommitPlace } from "./git/repository.ts";
import type { RepositoryUrl } from "./git/repository_url.ts";
import type { ResolveRequest, Source } from "./source.ts";
import { ensureTree } from "./trees/tree.ts";
import { createTreeStore, type TreeStore } from "./trees/tree_store.ts";
import { reach } from "./git/url_rewrites.ts";
import { Repositories } from "./git/repositories.ts";
import { type FirstPart, RevisionFiles } from "./trees/revision_files.ts";
import { DEFAULTS, type GitSourceOptions, type GitSourceParts } from "./git_source_options.ts";
import { firstPart } from "./trees/open_submodules.ts";
import type { TreeJob } from "./trees/tree_job.ts";
import { TreeTimes } from "./trees/tree_times.ts";

/** The Git source, and the trees it made. */
export interface GitSourceWithTrees extends Source {
  readonly trees: TreeStore;
  readonly mirrors: MirrorStore;
  /**
   * Time until which polls must not ask the host of a location, because it answered that it gets too
   * many requests; `undefined` when it may be asked.
   */
  heldUntil(location: SourceLocation): Date | undefined;
}

/** Sources of which is known whose work asked for them. */
const MOST_ASKED = 500;

/**
 * The Git source: mirrors, object readers and trees below the data directory, by the `git` program
 * (2.39 or newer). SHA-1 repositories only. {@link Source} tells what each method promises.
 */
export function createGitSource(parts: GitSourceParts): GitSourceWithTrees {
  return new GitSource(parts, { ...DEFAULTS, ...parts.options });
}

class GitSource implements GitSourceWithTrees {
  readonly trees: TreeStore;
  readonly mirrors: MirrorStore;
  readonly #parts: GitSourceParts;
  readonly #options: GitSourceOptions;
  readonly #layout: GitLayout;
  readonly #lender: GitLayout | undefined;
  readonly #access: GitAccess;
  readonly #git: Git;
  readonly #exports: KeyedLock = createKeyedLock();
  readonly #repositories: Repositories;
  readonly #ancestry = new Ancestry();
  readonly #times: TreeTimes;
  readonly #disk: DiskShares;
  /** Whose work asked last for what references of a source name, by its name. */
  readonly #askedBy = new Map<string, string>();
  readonly #files = new RevisionFiles((source, id) => ({
    ...this.#howToExpand({ source, id }),
    fetch: true,
  }));

  constructor(parts: GitSourceParts, options: GitSourceOptions) {
    const { commands, clock, files, redactor, dataDir, lender, credentials } = parts;
    this.#parts = parts;
    this.#options = options;
    this.#times = new TreeTimes(clock);
    this.#disk = new DiskShares(files);
    this.#layout = createLayout(dataDir);
    this.#lender = lender === undefined ? undefined : createLayout(lender);
    const { tree: pathOf } = this.#layout;
    this.trees = createTreeStore({ files, dataDir, pathOf, lock: this.#exports });
    this.#access = new GitAccess({ files, redactor, dataDir, lender, credentials, options });
    this.#git = new Git({ commands, clock, files, redactor, access: this.#access, options });
    const shared = { git: this.#git, files, clock, lock: createKeyedLock() };
    this.mirrors = createMirrorStore({
      ...shared,
      dataDir,
      pathOf: (source) => this.#layout.mirror(source, this.#reach(source)),
    });
    this.#repositories = new Repositories({
      ...shared,
      disk: this.#disk,
      log: parts.log,
      idleMs: options.readerIdleMs,
      answerMs: options.readerAnswerMs,
      largest: options.largestFile,
    });
  }

  async resolve(request: ResolveRequest, signal: AbortSignal): Promise<Revision> {
    const { location, reference, depth, round, by = location.name } = request;
    keepLatest(this.#askedBy, MOST_ASKED, location.name, by);
    const { repository: { mirror }, url } = this.#repositoryOf(location);
    await this.#checkPlace(url);
    const found = await mirror.resolve({ url, reference, depth, round }, signal);
    return { source: location, ...found };
  }

  heldUntil(location: SourceLocation): Date | undefined {
    return this.#git.heldUntil(this.#reach(location));
  }

  async lastKnown(
    { location, reference }: ResolveRequest,
    signal: AbortSignal,
  ): Promise<Revision | undefined> {
    const { repository: { mirror } } = this.#repositoryOf(location);
    const found = await mirror.lastKnown(reference, signal);
    return found === undefined ? undefined : { source: location, ...found };
  }

  async read(revision: Revision, path: string, signal: AbortSignal, mostBytes: number) {
    return await this.#files.read(this.#first(revision), path, signal, mostBytes);
  }

  async entries(revision: Revision, paths: readonly string[], signal: AbortSignal) {
    return await this.#files.entries(this.#first(revision), paths, signal);
  }

  async list(revision: Revision, path: string, signal: AbortSignal) {
    return await this.#files.list(this.#first(revision), path, signal);
  }

  async materialise(revision: Revision, signal: AbortSignal): Promise<string> {
    const { files, clock, log } = this.#parts;
    const directory = this.#layout.tree(revision);
    const job: TreeJob = {
      place: this.#place(revision),
      directory,
      trees: this.#layout.trees(revision.source),
      expand: this.#howToExpand(revision),
    };
    const { mostFilesWithoutGit } = this.#options;
    const tree = { files, clock, git: this.#git, disk: this.#disk, log, mostFilesWithoutGit };
    try {
      const make = (all: AbortSignal) => ensureTree(tree, job, all);
      await this.#exports.run(directory, () => job.expand.within(make, signal), signal);
      return directory;
    } catch (error) {
      signal.throwIfAborted();
      const borrowed = this.#lender?.tree(revision);
      if (borrowed === undefined || await files.stat(borrowed) === undefined) throw error;
      return borrowed;
    }
  }

  async isAncestor(older: Revision, newer: Revision, signal: AbortSignal): Promise<IsAncestor> {
    if (older.source.name !== newer.source.name) return "unknown";
    try {
      // Each URL has a mirror of its own: ask the newer revision's for both.
      const before = this.#place({ ...older, source: newer.source });
      return await this.#ancestry.tell(before, this.#place(newer), signal);
    } catch (error) {
      if (isDamaged(error)) return "unknown";
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#repositories.close();
    await this.#access.close();
  }

  #howToExpand(revision: Pick<Revision, "source" | "id">): TreeJob["expand"] {
    const { source } = revision;
    const key = this.#layout.tree(revision);
    return {
      submodules: this.#options.submodules,
      mostBytes: this.#options.mostBytes,
      rewrites: this.#options.rewrites,
      open: (directory, name) => this.#repositories.open(directory, name),
      layout: this.#layout,
      source,
      by: this.#by(source),
      within: (work, signal) => this.#times.within(key, work, signal),
      check: (url, root) => this.#checkPlace(url, root),
    };
  }

  #first(revision: Revision): FirstPart {
    const { source } = revision;
    return { source, part: firstPart(this.#place(revision), source) };
  }

  /** Refuses forbidden paths on this machine before git reads from them. */
  async #checkPlace(url: RepositoryUrl, root?: string): Promise<void> {
    const { files, dataDir, lender = dataDir } = this.#parts;
    await refuseOwnData(files, url, [dataDir, lender]);
    if (root !== undefined) await refuseOutsideRoot(files, url, root);
  }

  #place({ source, id }: Revision): CommitPlace {
    return { ...this.#repositoryOf(source), commit: id };
  }

  #repositoryOf(source: SourceLocation): Omit<CommitPlace, "commit"> {
    const url = { ...this.#reach(source), by: this.#by(source) };
    return {
      repository: this.#repositories.open(this.#layout.mirror(source, url), source.name),
      url,
    };
  }

  #by({ name }: SourceLocation): string {
    return this.#askedBy.get(name) ?? name;
  }

  #reach({ url }: SourceLocation): RepositoryUrl {
    return reach(url, this.#options.rewrites);
  }
}
