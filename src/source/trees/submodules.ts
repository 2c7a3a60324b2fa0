import { createHash } from "node:crypto";
import { dirname, join } from "node:path/posix";
import { type SourceLocation, StackwrightError, toStackwrightError } from "../../model/mod.ts";
import { parseSubmoduleConfig, submoduleUrl } from "../git/gitmodules.ts";
import type { GitLayout } from "./layout.ts";
import { requireSuccess } from "../git/git.ts";
import { type CommitPlace, type Repository, withRepair } from "../git/repository.ts";
import { parseRepositoryUrl, type RepositoryUrl } from "../git/repository_url.ts";
import type { TreeEntry } from "../source.ts";
import { type ListedEntry, MOST_ENTRIES, tooManyEntries } from "../git/tree_object.ts";
import { reach, type UrlRewrites } from "../git/url_rewrites.ts";

/** The depth to which submodules may nest. */
const DEEPEST_SUBMODULE = 10;
/**
 * Repositories of one tree: a few commits that name each other's repository make any number of
 * them.
 */
const MOST_PARTS = 500;
/** Bytes of `.gitmodules`: a thousand times what is usual. */
const MOST_CONFIG_BYTES = 256 * 1024;

/** One repository inside a tree: the source itself, or a submodule. */
export interface TreePart extends CommitPlace {
  /** Path of its root in the tree, with a slash at the end; empty for the source itself. */
  readonly prefix: string;
  /** Its URL before rewrites: relative URLs of its submodules start there. */
  readonly written: RepositoryUrl;
}

/** A file or link of a tree, and the part it comes from. */
export interface TreeFile extends ListedEntry {
  readonly kind: Exclude<TreeEntry["kind"], "directory" | "submodule">;
  readonly part: TreePart;
}

/** A commit with its submodules in place. */
export interface ExpandedTree {
  /** By path from the root of the tree. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** Where submodules are rooted: directories even when they are empty. */
  readonly roots: readonly string[];
}

/** Options of reaching submodules. */
export interface ExpandOptions {
  /** Whether they are exported; otherwise their directories stay empty. */
  readonly submodules: boolean;
  /** What the operator puts in the place of URLs. */
  readonly rewrites: UrlRewrites;
  /** Opens the mirror in a directory. */
  readonly open: (directory: string, name: string) => Repository;
  readonly layout: GitLayout;
  readonly source: SourceLocation;
  /** Whether missing commits are fetched; otherwise they make the expansion fail. */
  readonly fetch: boolean;
  /** Most bytes of all files together; 0 is no limit. */
  readonly mostBytes: number;
  /** Told about submodules without a URL, which stay empty. */
  readonly onUnknown: (path: string) => void;
  /**
   * Refuses places of this machine that nobody may name; `root` is the directory that submodules of
   * this machine must lie below, where there is one.
   */
  readonly check: (url: RepositoryUrl, root?: string) => Promise<void>;
}

/**
 * Lists a commit with everything its submodules bring, fetching their pinned commits.
 *
 * Throws what fetching throws, with the path of the submodule in front, `source_invalid` when they
 * nest deeper than {@link DEEPEST_SUBMODULE}, or when there are too many of them, of their files or of
 * the bytes in these.
 */
export async function expandTree(
  place: CommitPlace,
  options: ExpandOptions,
  signal: AbortSignal,
): Promise<ExpandedTree> {
  const files = new Map<string, TreeFile>();
  const roots: string[] = [];
  let count = 0;
  let bytes = 0;
  const root = rootOf(options.source);
  const parts: { part: TreePart; level: number }[] = [{
    part: firstPart(place, options.source),
    level: 0,
  }];
  for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
    const { part, level } = next;
    const entries = await withRepair(
      part,
      signal,
      () => part.repository.listings.list(part.commit, signal),
    );
    const modules = new Map<string, string>();
    for (const [path, entry] of entries) {
      if (entry.kind === "submodule") modules.set(path, entry.id);
      else files.set(part.prefix + path, { ...entry, kind: fileKind(entry), part });
      bytes += entry.size;
    }
    if (options.mostBytes > 0 && bytes > options.mostBytes) throw tooManyBytes(options.mostBytes);
    if (files.size > MOST_ENTRIES) throw tooManyEntries();
    roots.push(...[...modules.keys()].map((path) => part.prefix + path));
    if (!options.submodules || modules.size === 0) continue;
    count += modules.size;
    if (count > MOST_PARTS) {
      const message =
        `the tree has more than ${MOST_PARTS} submodules, those inside others included`;
      throw new StackwrightError("source_invalid", message);
    }
    const found = await openModules(part, modules, { ...options, level, root }, signal);
    parts.push(...found.map((each) => ({ part: each, level: level + 1 })));
  }
  return { files, roots };
}

/** A pack of a megabyte can mean any number of files of a gigabyte of zeros. */
function tooManyBytes(most: number): StackwrightError {
  return new StackwrightError(
    "source_invalid",
    `the files of the tree have more than the ${most} bytes of GIT_MAX_BYTES; deploy from a smaller ` +
      "repository, or raise the setting",
  );
}

function fileKind(entry: TreeEntry): TreeFile["kind"] {
  return entry.kind === "executable" || entry.kind === "symlink" ? entry.kind : "file";
}

/** The root of a submodule, as its parent has it. */
export interface ModuleRoot {
  /** From the root of the parent. */
  readonly path: string;
  /** The commit it is pinned to. */
  readonly commit: string;
  /** How many submodules are around it. */
  readonly level: number;
}

/**
 * Opens one submodule, fetching its pinned commit; `undefined` when it has no URL. Throws what
 * {@link expandTree} throws.
 */
export async function openSubmodule(
  parent: TreePart,
  { path, commit, level }: ModuleRoot,
  options: Omit<ExpandOptions, "onUnknown">,
  signal: AbortSignal,
): Promise<TreePart | undefined> {
  const all = { ...options, level, root: rootOf(options.source), onUnknown: () => {} };
  const [part] = await openModules(parent, new Map([[path, commit]]), all, signal);
  return part;
}

/** A source as the first part of its tree. */
export function firstPart(place: CommitPlace, source: SourceLocation): TreePart {
  return { ...place, prefix: "", written: parseRepositoryUrl(source.url) };
}

/** The directory of a source that is on this machine as written. */
function rootOf(source: SourceLocation): string | undefined {
  const { scheme, remote } = parseRepositoryUrl(source.url);
  return scheme === "file" ? dirname(remote) : undefined;
}

interface ModuleOptions extends ExpandOptions {
  readonly level: number;
  /** Directory of the source itself, when it is on this machine as written. */
  readonly root: string | undefined;
}

async function openModules(
  parent: TreePart,
  modules: ReadonlyMap<string, string>,
  options: ModuleOptions,
  signal: AbortSignal,
): Promise<TreePart[]> {
  const urls = await readConfig(parent, signal);
  const found: TreePart[] = [];
  for (const [path, commit] of modules) {
    const url = urls.get(path);
    const where = parent.prefix + path;
    if (url === undefined) {
      options.onUnknown(where);
      continue;
    }
    try {
      if (options.level >= DEEPEST_SUBMODULE) throw tooDeep();
      const written = submoduleUrl(url, parent.written, options.root);
      const target = { written, url: reached(url, written, options.rewrites), commit };
      found.push(await openModule(target, options, signal, `${where}/`));
    } catch (error) {
      throw named(error, where, signal);
    }
  }
  return found;
}

/** An absolute URL may have an account in it, which is no part of what git is given. */
function reached(text: string, written: RepositoryUrl, rewrites: UrlRewrites): RepositoryUrl {
  return reach(/^\.\.?(?:\/|$)/.test(text) ? written.remote : text, rewrites);
}

interface ModulePlace {
  readonly written: RepositoryUrl;
  /** After rewrites. */
  readonly url: RepositoryUrl;
  readonly commit: string;
}

async function openModule(
  { written, url, commit }: ModulePlace,
  options: ModuleOptions,
  signal: AbortSignal,
  prefix: string,
): Promise<TreePart> {
  await options.check(url, written.scheme === "file" ? options.root : undefined);
  const id = createHash("sha256").update(url.remote).digest("hex");
  const directory = join(options.layout.submodules(options.source), id);
  const repository = options.open(directory, url.remote);
  if (options.fetch) {
    await repository.mirror.fetchCommit(url, commit, 1, signal);
  } else if (await repository.objects.read(`${commit}^{commit}`, signal) === undefined) {
    throw new StackwrightError("source_invalid", `${commit} was not fetched`);
  }
  return { repository, url, commit, prefix, written };
}

/** URLs by path, as the commit's own `.gitmodules` has them. */
async function readConfig(
  part: TreePart,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const entry = await part.repository.paths.find(part.commit, ".gitmodules", signal);
  if (entry?.kind !== "file" && entry?.kind !== "executable") return new Map();
  const content = await part.repository.paths.content(entry.id, signal);
  if (content.length > MOST_CONFIG_BYTES) {
    throw new StackwrightError(
      "source_invalid",
      `${part.prefix}.gitmodules has ${content.length} bytes, the most that is read is ${MOST_CONFIG_BYTES}`,
    );
  }
  const args = ["config", `--blob=${entry.id}`, "--no-includes", "-z", "--list"];
  const result = await part.repository.mirror.run({ args }, signal);
  if (result.code !== 0 && /bad config|fatal:/.test(result.stderr)) {
    throw new StackwrightError(
      "source_invalid",
      `${part.prefix}.gitmodules cannot be read: ${result.stderr.trim().slice(0, 200)}`,
    );
  }
  return parseSubmoduleConfig(
    new TextDecoder().decode(requireSuccess(result, "reading .gitmodules").stdout),
  );
}

function tooDeep(): StackwrightError {
  return new StackwrightError(
    "source_invalid",
    `submodules nest deeper than ${DEEPEST_SUBMODULE} levels`,
  );
}

function named(error: unknown, path: string, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  const known = toStackwrightError(error, "fetching");
  return new StackwrightError(known.code, `submodule ${path}: ${known.message}`, { cause: known });
}
