import {
  externalObject,
  fitsTemplate,
  type FollowedPath,
  followedPaths,
  insideTree,
  mayBecome,
} from "../compose/mod.ts";
import { type ComposeModel, errors, type StackwrightError } from "../model/mod.ts";
import {
  type ComposeProject,
  RealTree,
  type TemplatePaths,
  templatePaths,
  withPlainDollars,
} from "../deploy/mod.ts";
import { fewWarnings } from "./few_warnings.ts";
import { guardRendering } from "./compose_guard.ts";
import type { GuardedInputs } from "./guarded_inputs.ts";
import { interpolate } from "./interpolate.ts";
import { existingVolumes } from "./existing_volumes.ts";
import { cannotFollow, type JudgingParts, ours, requireNotOurs } from "./not_ours.ts";
import { mayName, requireNotUs, unclearName } from "./not_us.ts";
import { requireNotOurGroup } from "./own_group.ts";
import { ourPlaces } from "./our_places.ts";
import type { PrepareParts } from "./parts.ts";
import { requireMountsNotOurs } from "./real_mounts.ts";
import type { Target } from "./target.ts";

/** Ensures that rendering reads only the project's own source; see {@link guardRendering}. */
export async function requireSafeInputs(
  parts: PrepareParts,
  project: ComposeProject,
  tree: string,
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GuardedInputs> {
  return await guardRendering({
    tree,
    directory: project.directory,
    composeFiles: project.files,
    envFiles: project.envFiles,
  }, {
    files: parts.files,
    turns: parts.turns,
    interpolate: (texts) => interpolate(parts, { project, variables }, texts, signal),
  }, signal);
}

/**
 * Refuses a rendered model that would make compose or buildx read files of this service, or that
 * mounts our data directory or our secrets. Mounts of a directory around these, or of the engine's
 * socket, are allowed with a warning: whoever may push may have those rights.
 *
 * Returns the error for a missing container if that is the only problem: it fails a new release,
 * but a recorded one gets nothing from a missing container. Throws `path_escapes`, `unsupported`,
 * and `config_invalid` for more paths than any project has.
 */
export async function requireSafeModel(
  given: PrepareParts,
  target: Pick<Target, "key" | "swarm">,
  model: ComposeModel,
  tree: string,
  signal: AbortSignal,
): Promise<StackwrightError | undefined> {
  const { name, context } = target.key;
  const log = fewWarnings(given.log.with({ stack: name, context }));
  const places = await ourPlaces(given, signal);
  const becoming = templatePaths(given.files);
  const isHere = await given.host.isHere(signal);
  const parts = { ...given, log, places, root: new RealTree(given.files, "/") };
  // Followed paths have plain dollars.
  const plain = withPlainDollars(model);
  const isStack = target.swarm !== undefined;
  const found = followedPaths(plain, { isStack });
  const existing = await existingVolumes(given.host, plain, signal, { isStack });
  const external = target.swarm === undefined ? externalObject(model) : undefined;
  const [refused] = external === undefined
    ? [...found.refused, ...existing.refused]
    : [`${external} is external, which only a swarm has`];
  if (refused !== undefined) {
    throw errors.unsupported(`deployment ${name}: ${refused}; it is not supported`);
  }
  const seen = new Set<string>();
  for (const each of [...found.paths, ...existing.paths]) {
    const key = `${each.by} ${each.what} ${each.path}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (each.by === "us") await requireInTree(parts, name, each, tree);
    else await requireNotOurs(parts, name, each, tree);
    if (each.by === "us" || !isStack) continue;
    await requireTemplatesNotOurs({ ...parts, becoming, isHere }, name, each, tree);
  }
  const templated = isStack &&
    found.paths.find(({ path }) => places.paths.some((each) => mayBecome(path, each)));
  if (templated) throw ours(name, templated.what);
  for (const { what, name: container } of found.shared) {
    await requireNotUs(parts.host, { stack: name, what, container }, signal);
  }
  await requireNotOurGroup(parts, name, plain, signal);
  const isOurs = (volume: string) =>
    places.volumes.some((own) => volume === own || isStack && fitsTemplate(volume, own));
  const volume = found.volumes.find((each) => isOurs(each.name));
  if (volume !== undefined) throw ours(name, volume.what);
  let gone: StackwrightError | undefined;
  for (const each of found.containers) {
    gone = await requireHandedOnNotOurs(parts, name, each, signal) ?? gone;
  }
  return gone;
}

/**
 * Refuses a container whose mounts include ours: they are handed on as they are, whatever its
 * project. Returns the error for a missing container.
 */
async function requireHandedOnNotOurs(
  parts: JudgingParts,
  name: string,
  { what, name: container }: { readonly what: string; readonly name: string },
  signal: AbortSignal,
): Promise<StackwrightError | undefined> {
  const own = (await parts.host.own(signal))?.container;
  const details = await parts.host.engine.inspectContainer(container, signal);
  if (own !== undefined && mayName(container, own)) {
    const isUs = details === undefined || details.container.id === own.id;
    const which = `${what} container:${container}`;
    throw isUs ? ours(name, which) : unclearName(name, which);
  }
  if (details === undefined) {
    return errors.config_invalid(`deployment ${name}: ${what}: there is no container ${container}`);
  }
  const from = `${what} container:${container}`;
  const { mounts } = details;
  const allowed = { written: false, live: false };
  await requireMountsNotOurs(parts, { stack: name, what: from, mounts, allowed }, signal);
  return undefined;
}

async function requireInTree(
  parts: JudgingParts,
  name: string,
  { what, path }: FollowedPath,
  tree: string,
): Promise<void> {
  const lexically = insideTree(path, tree) !== undefined;
  if (lexically && !await new RealTree(parts.files, tree).leadsOut(path)) return;
  throw errors.path_escapes(
    `deployment ${name}: ${what} leads out of the repository: only files of the deployment's own ` +
      "source can be read",
  );
}

/**
 * Refuses a mount whose templates a swarm may evaluate to an existing path that leads to our files,
 * or out of the source by a link in it.
 */
async function requireTemplatesNotOurs(
  parts: JudgingParts & { readonly becoming: TemplatePaths; readonly isHere: boolean },
  name: string,
  followed: FollowedPath,
  tree: string,
): Promise<void> {
  const isInside = insideTree(followed.path, tree) !== undefined;
  if (!parts.isHere && !isInside) return;
  const paths = await parts.becoming(followed.path).catch((cause) => {
    throw cannotFollow(name, followed, cause);
  });
  const judge = isInside ? requireInTree : requireNotOurs;
  for (const path of paths) await judge(parts, name, { ...followed, path }, tree);
}
