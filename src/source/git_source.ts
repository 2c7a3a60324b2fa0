import type { Revision, SourceLocation } from "../model/mod.ts";
import {
  type Clock,
  type Commands,
  createKeyedLock,
  type Files,
  type KeyedLock,
  type Log,
  type Redactor,
} from "../system/mod.ts";
import { Ancestry, type IsAncestor } from "./git/ancestry.ts";
import type { GitCredentials } from "./git/credentials.ts";
import { onDisk } from "./disk_error.ts";
import { Git, type GitOptions } from "./git/git.ts";
import { type AccessOptions, GitAccess } from "./git/git_access.ts";
import { isDamaged } from "./git/git_failure.ts";
import { createLayout, type GitLayout } from "./trees/layout.ts";
import { refuseOutsideRoot, refuseOwnData } from "./git/local_repository.ts";
import { Mirror } from "./git/mirror.ts";
import { createMirrorStore, type MirrorStore } from "./git/mirror_store.ts";
import { ObjectReader } from "./git/object_reader.ts";
import {
  type CommitPlace,
  createRepository,
  type Repository,
  withRepair,
} from "./git/repository.ts";
import type { RepositoryUrl } from "./git/repository_url.ts";
import type { ResolveRequest, Source, TreeEntry } from "./source.ts";
import { firstPart, type TreePart } from "./trees/submodules.ts";
import { type PartPath, SubmodulePaths } from "./trees/submodule_paths.ts";
import { isPublished, publishTree, touchIfThere, type TreeJob } from "./trees/tree.ts";
import { createTreeStore, type TreeStore } from "./trees/tree_store.ts";
import { reach, type UrlRewrites } from "./git/url_rewrites.ts";

/** Everything about the Git source that has a default. */
export interface GitSourceOptions extends GitOptions, AccessOptions {
  /** What the operator puts in the place of URLs, wherever these come from. */
  readonly rewrites: UrlRewrites;
  /** Whether submodules are exported with their parents. */
  readonly submodules: boolean;
  /** Milliseconds after which an unused object reader is ended. */
  readonly readerIdleMs: number;
  /** Milliseconds in which an object reader that was asked something must say something. */
  readonly readerAnswerMs: number;
  /** Largest file that is read into memory, in bytes. */
  readonly largestFile: number;
  /** Most files of a tree that are written without git, see `writeFiles`. */
  readonly mostFilesWithoutGit: number;
}

/** The Git source, and the trees it made. */
export interface GitSourceWithTrees extends Source {
  readonly trees: TreeStore;
  readonly mirrors: MirrorStore;
  /**
   * Until when the host of a place wants to be left alone by who asks on a timer; `undefined` when it
   * may be asked.
   */
  heldUntil(location: SourceLocation): Date | undefined;
}

/** Parts of the Git source. */
export interface GitSourceParts {
  readonly commands: Commands;
  readonly files: Files;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly log?: Log;
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  /**
   * Another data directory whose trees serve where a commit cannot be had any more, for who only
   * looks: nothing is written there.
   */
  readonly lender?: string;
  readonly credentials: GitCredentials;
  readonly options?: Partial<GitSourceOptions>;
}

const DEFAULTS: GitSourceOptions = {
  git: "git",
  path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  remoteTimeoutMs: 10 * 60 * 1000,
  localTimeoutMs: 5 * 60 * 1000,
  attempts: 3,
  mostBytes: 0,
  mostMemory: 2 * 1024 ** 3,
  http: undefined,
  temporaryPrefix: "/tmp/stackwright-git-",
  httpProxy: "",
  httpsProxy: "",
  noProxy: "",
  caFile: "",
  knownHostsFile: "",
  githubToken: undefined,
  rewrites: {},
  submodules: true,
  readerIdleMs: 60 * 1000,
  readerAnswerMs: 5 * 60 * 1000,
  largestFile: 64 * 1024 * 1024,
  mostFilesWithoutGit: 64,
};

/**
 * The Git source: mirrors, object readers and trees below the data directory, by the `git` program
 * (2.39 or newer). SHA-1 repositories only. {@link Source} tells what each method promises.
 */
export function createGitSource(parts: GitSourceParts): GitSourceWithTrees {
  return new GitSource(parts, { ...DEFAULTS, ...parts.options });
}

/** A revision as the first part of its tree. */
interface FirstPart {
  readonly source: SourceLocation;
  readonly part: TreePart;
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
  readonly #fetches = createKeyedLock();
  readonly #exports: KeyedLock = createKeyedLock();
  readonly #repositories = new Map<string, Repository>();
  readonly #ancestry = new Ancestry();
  readonly #submodules = new SubmodulePaths((source) => ({
    ...this.#howToExpand(source),
    fetch: true,
  }));

  constructor(parts: GitSourceParts, options: GitSourceOptions) {
    const { commands, clock, files, redactor, dataDir, credentials } = parts;
    this.#parts = parts;
    this.#options = options;
    this.#layout = createLayout(dataDir);
    this.#lender = parts.lender === undefined ? undefined : createLayout(parts.lender);
    const { tree: pathOf } = this.#layout;
    this.trees = createTreeStore({ files, dataDir, pathOf, lock: this.#exports });
    this.#access = new GitAccess({ files, redactor, dataDir, credentials, options });
    this.#git = new Git({ commands, clock, redactor, access: this.#access, options });
    const mirrors = { git: this.#git, files, clock, dataDir, lock: this.#fetches };
    this.mirrors = createMirrorStore(mirrors);
  }

  async resolve(request: ResolveRequest, signal: AbortSignal): Promise<Revision> {
    const { location, reference, depth, round } = request;
    const url = reach(location.url, this.#options.rewrites);
    await this.#checkPlace(url);
    const repository = this.#open(this.#layout.mirror(location), location.name);
    const found = await repository.mirror.resolve({ url, reference, depth, round }, signal);
    return { source: location, ...found };
  }

  heldUntil({ url }: SourceLocation): Date | undefined {
    return this.#git.heldUntil(reach(url, this.#options.rewrites));
  }

  async lastKnown(
    { location, reference }: ResolveRequest,
    signal: AbortSignal,
  ): Promise<Revision | undefined> {
    const { mirror } = this.#open(this.#layout.mirror(location), location.name);
    const found = await mirror.lastKnown(reference, signal);
    return found === undefined ? undefined : { source: location, ...found };
  }

  async read(revision: Revision, path: string, signal: AbortSignal) {
    const inside = await this.#partOf(this.#first(revision), path, { orIs: false, signal });
    const { paths } = inside.part.repository;
    return await withRepair(inside.part, signal, async () => {
      const entry = await paths.find(inside.part.commit, inside.path, signal);
      if (entry?.kind !== "file" && entry?.kind !== "executable") return undefined;
      return await paths.content(entry.id, signal);
    });
  }

  async entries(
    revision: Revision,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>> {
    const found = new Map<string, TreeEntry>();
    const first = this.#first(revision);
    for (const path of paths) {
      const { part, path: rest } = await this.#partOf(first, path, { orIs: false, signal });
      const find = () => part.repository.paths.find(part.commit, rest, signal);
      const entry = await withRepair(part, signal, find);
      if (entry !== undefined) found.set(path, entry);
    }
    return found;
  }

  async list(
    revision: Revision,
    path: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>> {
    const { part, path: root } = await this.#partOf(this.#first(revision), path, {
      orIs: true,
      signal,
    });
    return await withRepair(part, signal, async () => {
      const entry = await part.repository.paths.find(part.commit, root, signal);
      if (entry === undefined) return new Map();
      const whole = part.prefix + root;
      if (entry.kind !== "directory") return new Map([[whole, entry]]);
      const prefix = whole === "" || whole.endsWith("/") ? whole : `${whole}/`;
      const { commit, repository: { listings } } = part;
      const listed = await listings.below({ commit, path: root, id: entry.id }, signal);
      return new Map([...listed].map(([below, { kind, id }]) => [prefix + below, { kind, id }]));
    });
  }

  async materialise(revision: Revision, signal: AbortSignal): Promise<string> {
    const { files, clock, log } = this.#parts;
    const directory = this.#layout.tree(revision);
    const job: TreeJob = {
      place: this.#place(revision),
      directory,
      trees: this.#layout.trees(revision.source),
      expand: this.#howToExpand(revision.source),
    };
    const { mostFilesWithoutGit } = this.#options;
    const tree = { files, clock, git: this.#git, log, mostFilesWithoutGit };
    try {
      await this.#exports.run(directory, async () => {
        if (!await isPublished(tree, job, signal)) return await publishTree(tree, job, signal);
        await onDisk(directory, () => touchIfThere(files, directory));
        // Another process may have removed it in the moment before it was touched.
        if (!await isPublished(tree, job, signal)) await publishTree(tree, job, signal);
      }, signal);
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
      return await this.#ancestry.tell(this.#place(older), this.#place(newer), signal);
    } catch (error) {
      if (isDamaged(error)) return "unknown";
      throw error;
    }
  }

  async close(): Promise<void> {
    const open = [...this.#repositories.values()];
    this.#repositories.clear();
    await Promise.all(open.map((each) => each.objects.close()));
    await this.#access.close();
  }

  #howToExpand(source: SourceLocation): TreeJob["expand"] {
    return {
      submodules: this.#options.submodules,
      mostBytes: this.#options.mostBytes,
      rewrites: this.#options.rewrites,
      open: (directory, name) => this.#open(directory, name),
      layout: this.#layout,
      source,
      check: (url, root) => this.#checkPlace(url, root),
    };
  }

  #first(revision: Revision): FirstPart {
    const { source } = revision;
    return { source, part: firstPart(this.#place(revision), source) };
  }

  #partOf(
    { source, part }: FirstPart,
    path: string,
    how: { readonly orIs: boolean; readonly signal: AbortSignal },
  ): Promise<PartPath> {
    const root = path.split("/").filter((each) => each !== "" && each !== ".").join("/");
    return this.#submodules.find(part, source, root, how);
  }

  /** What lies on this machine is looked at before git gets to read it. */
  async #checkPlace(url: RepositoryUrl, root?: string): Promise<void> {
    const { files, dataDir } = this.#parts;
    await refuseOwnData(files, url, dataDir);
    if (root !== undefined) await refuseOutsideRoot(files, url, root);
  }

  #place(revision: Revision): CommitPlace {
    const { source, id } = revision;
    return {
      repository: this.#open(this.#layout.mirror(source), source.name),
      url: reach(source.url, this.#options.rewrites),
      commit: id,
    };
  }

  #open(directory: string, name: string): Repository {
    const known = this.#repositories.get(directory);
    if (known !== undefined) return known;
    const { files, clock, log } = this.#parts;
    const objects = new ObjectReader({
      start: () => this.#git.start({ args: ["cat-file", "--batch"], gitDir: directory }),
      clock,
      idleMs: this.#options.readerIdleMs,
      answerMs: this.#options.readerAnswerMs,
      largest: this.#options.largestFile,
    });
    const mirror = new Mirror({
      git: this.#git,
      files,
      clock,
      log,
      lock: this.#fetches,
      reader: objects,
      directory,
      name,
    });
    const repository = createRepository(mirror, objects);
    this.#repositories.set(directory, repository);
    return repository;
  }
}
