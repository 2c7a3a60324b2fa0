import { resolve } from "node:path";
import { insideTree } from "../compose/mod.ts";
import {
  findingOnce,
  type Looked,
  RealTree,
  requireMountsInside,
  stackDirectories,
  stackPlaceOf,
  templatePaths,
} from "../deploy/mod.ts";
import { asText } from "../docker/json.ts";
import { NAMESPACE_MODES } from "../docker/namespaces.ts";
import { errors, sharedContainer } from "../model/mod.ts";
import { existingVolumes } from "./existing_volumes.ts";
import { type JudgingParts, ours, requireNotOurs } from "./not_ours.ts";
import { requireNotUs } from "./not_us.ts";
import { requireNotOurGroup } from "./own_group.ts";
import { ourPlaces, type PlaceParts } from "./our_places.ts";

/**
 * Refuses to make or start what mounts our places, or shares our namespaces or control group: the same
 * questions as for a model, about the mounts that a container or a service really has, whichever way
 * it got them. Nothing is warned about: that was done when the model was judged.
 *
 * A container that a person made may mount what that person wrote; links in the way of it are refused.
 *
 * Throws as {@link requireMountsInside} and {@link requireNotOurs} do.
 */
export async function requireNothingOurs(
  given: PlaceParts,
  looked: Looked,
  signal: AbortSignal,
): Promise<void> {
  const mounts = looked.mounts.filter(({ name, source }) => name !== "" || source !== "");
  if (looked.isOurs) await requireNothingShared(given, looked, signal);
  if (mounts.length === 0) return;
  const engine = findingOnce(given.host.engine);
  const { files, options: { dataDir } } = given;
  const { dataDir: hostDataDir } = given.host;
  await requireMountsInside({ engine, files, dataDir, hostDataDir }, mounts, signal);
  const parts = await judging(given, signal);
  const allowed = { written: !looked.isOurs, live: true };
  const there = { ...parts, host: { ...parts.host, engine } };
  await requireMountsNotOurs(there, { ...looked, mounts, allowed }, signal);
}

/** The parts for judging where paths lead. */
export async function judging(parts: PlaceParts, signal: AbortSignal): Promise<JudgingParts> {
  const places = await ourPlaces(parts, signal);
  const log = { warning: () => {} };
  return { ...parts, log, places, root: new RealTree(parts.files, "/") };
}

/** Mounts to judge, with words about what has them. */
interface JudgedMounts extends Pick<Looked, "stack" | "what" | "mounts"> {
  /** What passes although it lies among our places: paths as written, and the files of stacks. */
  readonly allowed: { readonly written: boolean; readonly live: boolean };
}

/**
 * Refuses mounts of our places, by paths, volumes or the options of volumes, links resolved.
 *
 * Throws as {@link requireNotOurs} does.
 */
export async function requireMountsNotOurs(
  parts: JudgingParts,
  { stack, what, mounts, allowed }: JudgedMounts,
  signal: AbortSignal,
): Promise<void> {
  const { places, host } = parts;
  const isWritten = (path: string) =>
    path !== "" && places.paths.some((mine) => insideTree(resolve(path), mine) !== undefined);
  const volumes = mounts.filter(({ kind, name }) => kind === "volume" && name !== "");
  if (
    !allowed.written &&
    volumes.some(({ name, source }) => places.volumes.includes(name) || isWritten(source))
  ) throw ours(stack, what);
  // A swarm evaluates templates in what its tasks mount.
  const becoming = templatePaths(parts.files);
  const sources: string[] = [];
  for (const { kind, source } of mounts) {
    if (kind !== "bind" || source === "") continue;
    sources.push(source, ...await becoming(source));
  }
  const binds = sources.map((source) =>
    ({ what, path: resolve(source), by: "engine", everywhere: true }) as const
  );
  const named = Object.fromEntries(volumes.map(({ name }) => [name, { name }]));
  const { paths, refused } = await existingVolumes(host, { services: {}, volumes: named }, signal);
  if (refused[0] !== undefined && !allowed.written) {
    throw errors.unsupported(`deployment ${stack}: ${what}: ${refused[0]}; it is not supported`);
  }
  for (const each of [...binds, ...paths]) {
    if (allowed.written && isWritten(each.path)) continue;
    if (each.what === what && allowed.live && await isOfStack(parts, each.path)) continue;
    const told = each.what === what ? each : { ...each, what: `${what}: ${each.what}` };
    await requireNotOurs(parts, stack, told, NOWHERE);
  }
}

/** A tree in which no path of an engine's mounts lies. */
const NOWHERE = "/dev/null/nowhere";

/** Whether a path is one of the files of a stack, as we mount them, and leads to nothing else. */
async function isOfStack({ files, host, options }: JudgingParts, path: string) {
  const place = stackPlaceOf(host.dataDir, path);
  if (place === undefined) return false;
  const tree = new RealTree(files, stackDirectories(options.dataDir, place.key)[place.kind]);
  return await tree.holds(place.path);
}

/** Refuses to share the namespaces or the control group of this process, as a model may not. */
async function requireNothingShared(
  parts: PlaceParts,
  { stack, what, host = {} }: Looked,
  signal: AbortSignal,
): Promise<void> {
  for (const key of NAMESPACE_MODES) {
    const container = sharedContainer(asText(host[key]));
    if (container === undefined) continue;
    await requireNotUs(parts.host, { stack, what: `${what}: its ${key}`, container }, signal);
  }
  const model = { services: { [what]: { cgroup_parent: asText(host["CgroupParent"]) } } };
  await requireNotOurGroup(parts, stack, model, signal);
}
