import { dirname } from "node:path/posix";
import {
  clip,
  errors,
  isStackwrightError,
  type SourceLocation,
  StackwrightError,
  toStackwrightError,
  utf8,
} from "../../model/mod.ts";
import { parseSubmoduleConfig, submoduleUrl } from "../git/gitmodules.ts";
import type { CommitPlace } from "../git/repository.ts";
import { parseRepositoryUrl, type RepositoryUrl } from "../git/repository_url.ts";
import { reach, type UrlRewrites } from "../git/url_rewrites.ts";
import type { ExpandOptions, TreePart } from "./expanded_tree.ts";
import { requireSuccess } from "../git/git_result.ts";

const DEEPEST_SUBMODULE = 10;

/** The root of a submodule, as its parent has it. */
interface ModuleRoot {
  /** From the root of the parent. */
  readonly path: string;
  /** The commit it is pinned to. */
  readonly commit: string;
  /** Number of submodules around it. */
  readonly level: number;
}

/** Opens a submodule at its pinned commit; `undefined` without a URL. Throws as {@link expandTree}. */
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
export function rootOf(source: SourceLocation): string | undefined {
  const { scheme, remote } = parseRepositoryUrl(source.url);
  return scheme === "file" ? dirname(remote) : undefined;
}

interface ModuleOptions extends ExpandOptions {
  readonly level: number;
  /** Directory of the source itself, when it is on this machine as written. */
  readonly root: string | undefined;
}

/** Opens the submodules of a part; those without a URL are told of and left out. */
export async function openModules(
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
      const to = { ...reached(url, written, options.rewrites), by: options.by };
      const target = { written, url: to, commit };
      found.push(await openModule(target, options, signal, `${where}/`));
    } catch (error) {
      throw named(error, where, signal);
    }
  }
  return found;
}

/** The URL after rewrites. Absolute URLs are rewritten as written: they may hold an account. */
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
  const repository = options.open(options.layout.submodule(options.source, url), url.remote);
  if (options.fetch) {
    await repository.mirror.fetchCommit({ url, name: commit, depth: 1 }, signal);
  } else if (await repository.objects.commit(commit, signal) === undefined) {
    throw errors.source_invalid(`${commit} was not fetched`);
  }
  return { repository, url, commit, prefix, written };
}

function tooDeep(): StackwrightError {
  return errors.source_invalid(`submodules nest deeper than ${DEEPEST_SUBMODULE} levels`);
}

function named(error: unknown, path: string, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  const known = toStackwrightError(error, "fetching");
  return new StackwrightError(known.code, `submodule ${path}: ${known.message}`, { cause: known });
}

/** Bytes of `.gitmodules`: a thousand times what is usual. */
const MOST_CONFIG_BYTES = 256 * 1024;
/** Bytes of what git prints of it, with the name of its section before each key: a name is there six times. */
const MOST_LISTED_BYTES = 6 * MOST_CONFIG_BYTES;

/** URLs by path, as the commit's own `.gitmodules` has them. */
async function readConfig(part: TreePart, signal: AbortSignal) {
  const entry = await part.repository.paths.find(part.commit, ".gitmodules", signal);
  if (entry?.kind !== "file" && entry?.kind !== "executable") return new Map();
  const size = await part.repository.paths.size(entry.id, signal);
  if (size > MOST_CONFIG_BYTES) {
    const why = `has ${size} bytes, the most that is read is ${MOST_CONFIG_BYTES}`;
    throw invalid(part, why);
  }
  const args = ["config", `--blob=${entry.id}`, "--no-includes", "-z", "--list"];
  const invocation = { args, mostBytes: MOST_LISTED_BYTES };
  const result = await part.repository.mirror.run(invocation, signal).catch((error) => {
    if (!isStackwrightError(error, "payload_too_large")) throw error;
    const why =
      `has more than ${MOST_LISTED_BYTES} bytes with the name of its section before each key`;
    throw invalid(part, `${why}; make these names shorter`);
  });
  if (result.code !== 0 && /bad config|fatal:/.test(result.stderr)) {
    throw invalid(part, `cannot be read: ${clip(result.stderr.trim(), 200)}`);
  }
  const { stdout } = requireSuccess(result, "reading .gitmodules");
  return parseSubmoduleConfig(utf8(stdout));
}

function invalid({ prefix }: TreePart, why: string): StackwrightError {
  return errors.source_invalid(`${prefix}.gitmodules ${why}`);
}
