import { join } from "node:path";
import {
  ignoredUses,
  insideTree,
  type LivePaths,
  livePaths,
  type TreeUse,
  treeUses,
  withoutLonger,
} from "../compose/mod.ts";
import type { ReleaseParts } from "../compose/make_release.ts";
import {
  LiveDirectory,
  liveHolds,
  observe,
  RealTree,
  requireLiveInside,
  stackDirectories,
} from "../deploy/mod.ts";
import { errors, isOurs, type LiveManifest } from "../model/mod.ts";
import { ABSENT, contentIds, filesAt, isSubmodule, plainIds } from "./content.ts";
import type { PrepareParts } from "./parts.ts";
import { fewWarnings } from "./few_warnings.ts";
import { countPaths } from "./recorded_bounds.ts";
import type { RenderedTarget } from "./render_target.ts";
import { filesOwner, type Target } from "./target.ts";
import { hasLinks, realPaths } from "./real_paths.ts";

/** Paths of its tree that a rendered target uses, with their content ids. */
export interface UsedContent extends Pick<ReleaseParts, "uses" | "inPlace" | "contentOf" | "live"> {
  readonly manifest: LiveManifest;
  /** Content ids by path of everything that was read or is used: the closure of the release. */
  readonly ids: ReadonlyMap<string, string>;
  /** Id of the plain content of encrypted files, by path. */
  readonly identities: ReadonlyMap<string, string>;
}

/**
 * Finds the files that a target's services mount, read and build from, decrypts them, and divides
 * those that containers see between `current/` and `live/`.
 *
 * Throws `config_invalid` for a mount without a source, `path_escapes` for one that links lead out.
 */
export async function usedContent(
  parts: PrepareParts,
  target: Target,
  rendered: RenderedTarget,
  signal: AbortSignal,
): Promise<UsedContent> {
  const { inputs, realInputs, revealed, tree, model } = rendered;
  const { revision } = target;
  const found = treeUses(model, tree);
  const realFound = await realPaths(parts, tree, found.map((use) => use.path));
  const read = found.filter((use) => !isCovered(use, realFound));
  const realUses = new Map(read.map(({ path }) => [path, realFound.get(path) ?? path]));
  const owner = filesOwner(target, revision);
  const toReveal = { revision, tree, owner, paths: [...realUses.values()] };
  const used = await parts.encrypted.reveal(toReveal, signal);
  rendered.plain.hideDecrypted(used.secrets);
  const identities = new Map([...revealed.identities, ...used.identities]);
  const real = new Map([...realInputs, ...realUses]);
  const paths = [...new Set([...inputs.paths, ...real.values(), ...(hasLinks(real) ? ["."] : [])])];
  paths.forEach(countPaths("paths"));
  const ids = await contentIds(parts.source, revision, paths, signal);
  const contents = await plainIds(parts.source, revision, { ids, identities }, signal);
  const contentOf = (path: string) => contents.get(real.get(path) ?? path) ?? ABSENT;
  const uses = read.filter(({ within, path }) =>
    within === undefined || contentOf(path) !== ABSENT
  );
  const inPlace = ignoredUses(model, uses);
  const log = fewWarnings(parts.log.with({ stack: target.key.name, context: target.key.context }));
  for (const warning of inPlace.warnings) log.warning(warning);
  const realPath = (path: string) => real.get(path) ?? path;
  const exists = (path: string) => contentOf(path) !== ABSENT;
  const live = livePaths(uses, inPlace.uses, exists, realPath);
  await requireMounts(parts, target, { uses, contentOf, realPath });
  await requireContent(parts, target, { uses, contentOf, realPath, tree }, signal);
  await requireOwnLive(parts, target, { uses, live, realPath });
  await warnOfNothing(parts, target, { live, realPath }, signal);
  const manifest = await liveManifest(parts, target, { live, identities }, signal);
  return { uses, inPlace, live, manifest, ids, identities, contentOf };
}

/** Whether the content of a build's context covers a use: the real paths decide, links are followed. */
function isCovered({ path, within }: TreeUse, real: ReadonlyMap<string, string>): boolean {
  if (within === undefined) return false;
  const context = real.get(within);
  return context !== undefined &&
    insideTree(join("/", real.get(path) ?? path), join("/", context)) !== undefined;
}

/** Number of empty mounts that a warning names. */
const MOST_NAMED = 5;

/** Warns of mounts without a source, for a wrong name or a file that was not committed. */
async function warnOfNothing(
  parts: PrepareParts,
  { key, swarm }: Target,
  { live: { unfilled }, realPath }: Pick<Mounts, "realPath"> & { readonly live: LivePaths },
  signal: AbortSignal,
): Promise<void> {
  if (unfilled.length === 0) return;
  const { live } = stackDirectories(parts.options.dataDir, key);
  // The first deployment brings along what containers have there that somebody else made.
  const place = { key, ...(swarm && { swarm }) };
  const { containers } = await observe(parts.host.engine, place, signal);
  const brought = new Set(
    containers.filter((each) => !isOurs(each)).flatMap(({ service, binds = [] }) =>
      binds.map(({ destination }) => `${service} ${destination}`)
    ),
  );
  const named: string[] = [];
  for (const { service, path, item } of unfilled) {
    if (named.length > MOST_NAMED) break;
    if (brought.has(`${service} ${item}`)) continue;
    // A person may have put something there, or an adoption brought what one had put into the old copy.
    if (await liveHolds(parts.files, live, realPath(path))) continue;
    named.push(`${path} (service ${service}, at ${item})`);
  }
  if (named.length === 0) return;
  const told = named.slice(0, MOST_NAMED).join(", ") +
    (named.length > MOST_NAMED ? " and more" : "");
  parts.log.warning(
    `the repository has nothing at ${told}, and no service can put a file there: the containers ` +
      "see an empty directory",
    { stack: key.name, context: key.context },
  );
}

/** What is at a path of a stack's files, to which no link of a container leads elsewhere. */
async function kindAt({ files }: Pick<PrepareParts, "files">, live: LiveDirectory, path: string) {
  return await live.at(path, { makes: false }, async (place) => (await files.stat(place))?.kind);
}

interface Mounts {
  readonly uses: readonly TreeUse[];
  readonly contentOf: (path: string) => string;
  readonly realPath: (path: string) => string;
}

const LEADS_NOWHERE = "is a link to something that does not exist in the repository";
const NOT_FETCHED = "lies in a submodule without content here: submodules are not fetched " +
  "(GIT_CLONE_SUBMODULES=false), or it is empty or has no URL in .gitmodules";

/** Refuses dangling links and submodules that are not fetched: containers would see nothing there. */
async function requireContent(
  parts: PrepareParts,
  { revision }: Target,
  { uses, contentOf, realPath, tree }: Mounts & { readonly tree: string },
  signal: AbortSignal,
): Promise<void> {
  const realTree = new RealTree(parts.files, tree);
  for (const use of uses.filter(({ kind }) => kind !== "build")) {
    const what = `service ${use.service}: ${use.kind} ${use.path}`;
    const refused = (why: string) => errors.config_invalid(`${what} ${why}`);
    if (await realTree.isDangling(use.path)) throw refused(LEADS_NOWHERE);
    if (!isSubmodule(contentOf(use.path))) continue;
    const path = realPath(use.path);
    const listed = await parts.source.list(revision, path, signal);
    if (listed.size > 0 && !listed.has(path)) continue;
    throw refused(NOT_FETCHED);
  }
}

/** Refuses a missing source of a mount that its author requires to exist. */
async function requireMounts(
  parts: PrepareParts,
  target: Target,
  { uses, contentOf, realPath }: Mounts,
): Promise<void> {
  const live = new LiveDirectory(
    parts.files,
    stackDirectories(parts.options.dataDir, target.key).live,
  );
  for (const use of uses) {
    if (!use.required || contentOf(use.path) !== ABSENT) continue;
    if (
      use.kind === "bind" && await kindAt(parts, live, realPath(use.path)) !== undefined
    ) {
      continue;
    }
    const make = use.kind === "bind"
      ? "; with `bind: {create_host_path: true}` it is made as a directory that containers may write to"
      : "; what somebody put into a checkout by hand is not read: commit it, encrypted if it is secret";
    throw errors.config_invalid(
      `service ${use.service}: ${use.kind} ${use.path} does not exist in the repository${make}`,
    );
  }
}

async function requireOwnLive(
  parts: PrepareParts,
  { key }: Target,
  { uses, live, realPath }: Pick<Mounts, "uses" | "realPath"> & { readonly live: LivePaths },
): Promise<void> {
  const own = stackDirectories(parts.options.dataDir, key).live;
  const paths = uses.filter(({ kind, path }) => kind !== "build" && live.isLive(path))
    .map(({ path }) => realPath(path));
  await requireLiveInside(parts.files, own, paths);
}

async function liveManifest(
  parts: PrepareParts,
  target: Target,
  { live, identities }: {
    readonly live: LivePaths;
    readonly identities: ReadonlyMap<string, string>;
  },
  signal: AbortSignal,
): Promise<LiveManifest> {
  const files: Record<string, string> = {};
  const count = countPaths("files");
  live.untracked.forEach(count);
  for (const path of outermost(live.tracked)) {
    for (const [file, entry] of await filesAt(parts.source, target.revision, path, signal)) {
      count(file);
      files[file] = `${entry.kind}:${identities.get(file) ?? entry.id}`;
    }
  }
  return { files, directories: live.untracked };
}

/** Paths that are not inside of others. */
function outermost(paths: readonly string[]): string[] {
  const sorted = withoutLonger(paths.map((path) => path === "." ? "" : `${path}/`));
  return sorted.map((path) => path === "" ? "." : path.slice(0, -1));
}
