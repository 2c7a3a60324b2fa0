import {
  type ComposeCall,
  imagesByService,
  imagesPresent,
  requireExternals,
  requirePlainHooks,
  requireStackParts,
} from "../deploy/mod.ts";
import {
  namesBuilt,
  pullsAlways,
  pullsNever,
  requirePullable,
  withBuildArguments,
  withBuildPaths,
  withOwnCaches,
} from "../compose/mod.ts";
import {
  isStackwrightError,
  keptName,
  messageOf,
  type ObservedStack,
  own,
  type Plan,
  type Release,
  type ReleaseService,
} from "../model/mod.ts";
import { NO_IMAGE, presentImages, requireShortList } from "./short_list.ts";
import { builtImages } from "./built_images.ts";
import { buildsFor, type BuiltImage, imagesBuilt, stayingFor } from "./builds_for.ts";
import type { WantedImages } from "./images.ts";
import { actingVariables } from "./model_values.ts";
import type { PrepareParts } from "./parts.ts";
import type { PreparedRelease } from "./prepare_release.ts";
import { starting } from "./recorded_images.ts";
import { idsBeside, pullSideImages, refreshSideImages, withoutBuilt } from "./side_images.ts";
import { resolveImages } from "./swarm_images.ts";
import type { Target } from "./target.ts";

/**
 * Pulls images whose tags may have moved, for all services (`force_image_pull`) or for those with
 * `pull_policy: always`, and returns the image that each of these would run. Otherwise does
 * nothing. An unavailable registry does not affect a deployed release, which is repaired from local
 * images.
 *
 * Throws `pull_failed` for a release that is not deployed yet.
 */
export async function refreshImages(
  parts: PrepareParts,
  target: Target,
  { prepared, isDeployed }: { readonly prepared: PreparedRelease; readonly isDeployed: boolean },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { release } = prepared;
  if (release.swarm !== undefined) return await movedImages(parts, target, release, signal);
  const again = release.services.filter((each) =>
    each.expectation.replicas > 0 && isPulledAgain(target, release, each)
  );
  const asked = withoutBuilt(release.model, again);
  if (asked.length === 0) return {};
  const pullable = asked.filter((each) => !each.builds && each.image !== "");
  const { images: host } = parts.host;
  try {
    await host.pull(wanted(target, prepared, pullable), signal);
    const beside = { ...wanted(target, prepared, asked), services: asked };
    await refreshSideImages(host, release.model, beside, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isDeployed || !isStackwrightError(error, "pull_failed")) throw error;
    parts.log.warning(`whether tags have moved is not known: ${messageOf(error)}`, {
      stack: target.key.name,
      context: target.key.context,
    });
  }
  const images = await idsBeside(parts.host.engine, asked, signal);
  for (const service of pullable) {
    const id = await parts.host.engine.imageId(service.image, signal);
    if (id !== undefined) images[service.name] = id;
  }
  return images;
}

function isPulledAgain(
  { deployment: { forceImagePull } }: Target,
  release: Release,
  { name }: Pick<ReleaseService, "name">,
): boolean {
  return pullsAlways(release, name) || (forceImagePull && !pullsNever(release, name));
}

/**
 * Ensures that the engine has every image of a plan: pulls missing ones, builds changed ones. No
 * container is touched, and after a failed build names point to the same images as before. Scaling
 * a built service uses the image that its containers run, since its name may point to one that was
 * never released; a missing one is built again.
 *
 * Returns the images of a stack with their digests; for containers, the images that were built.
 *
 * Throws `pull_failed` or `build_failed`, and what {@link requirePlainHooks}, {@link requireShortList}
 * and {@link builtImages} throw.
 */
export async function prepareImages(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  { plan, observed }: { readonly plan: Plan; readonly observed: ObservedStack },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (prepared.release.swarm !== undefined) {
    const services = starting(plan.services, ["create", "recreate"]);
    await requireStackParts(parts, prepared.release, services, signal);
    const work = { release: prepared.release, services, known: imagesByService(observed) };
    return await resolveImages(parts, work, signal);
  }
  const acting = new Map(plan.services.map((each) => [each.name, each.action]));
  const needed = prepared.release.services.filter((service) => {
    const action = acting.get(service.name);
    return service.expectation.replicas > 0 && action !== undefined && action !== "keep" &&
      action !== "remove";
  });
  const names = needed.map(({ name }) => name);
  await requireExternals(parts.host.engine, prepared.release.model, names, signal);
  const from = await whereFrom(parts, prepared.release, { plan, observed, needed }, signal);
  const isMissing = ({ image }: ReleaseService) => image !== "" && !from.present.has(image);
  const pulls = needed.filter((each) => !each.builds && isMissing(each));
  requirePullable(prepared.release, pulls);
  await parts.host.images.pull(wanted(target, prepared, pulls), signal);
  await pullSideImages(parts, prepared.release, wanted(target, prepared, needed), signal);
  const build = (services: readonly ReleaseService[]) => {
    const toBuild = wantedBuilds(parts, target, prepared, services);
    return parts.host.images.build(toBuild, target.deployment.build, signal);
  };
  const isFetched = await build(from.builds);
  const built = isFetched ? from.builds : [];
  const ids = await builtImages(parts.host.engine, target.key, built, build, signal);
  const images: Record<string, string> = {};
  const toCome = isFetched ? [] : namesToCome(target, prepared.release, needed, from.builds);
  const known = new Map(from.present);
  for (const { name, image, maker } of from.images) {
    const id = own(from.again, name) ?? own(ids, maker);
    if (id === undefined) continue;
    images[name] = id;
    known.delete(image);
  }
  for (const image of toCome) known.set(image, NO_IMAGE);
  const engine = without(new Set(toCome), parts.host);
  await requirePlainHooks(engine, prepared.release, needed, signal);
  const services = needed.filter((each) => acting.get(each.name) !== "start");
  try {
    await requireShortList(parts.host.engine, prepared.release, { services, known }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const ran = imagesByService(observed);
    await discardBuilt(parts, prepared.release, { built, named: from.images, ran }, signal);
    throw error;
  }
  return images;
}

/** What is built for services that a plan needs, and what there is; names lead to what is used again. */
async function whereFrom(
  { host: { engine, images } }: Pick<PrepareParts, "host">,
  release: Release,
  { plan, observed, needed }: {
    readonly plan: Plan;
    readonly observed: ObservedStack;
    readonly needed: readonly ReleaseService[];
  },
  signal: AbortSignal,
) {
  const all = imagesBuilt(release);
  const names = new Set(needed.map(({ name }) => name));
  const wanted = all.filter(({ service }) => names.has(service));
  const staying = stayingFor(release, { plan, built: all, needed: wanted });
  const ran = await imagesPresent(engine, staying, imagesByService(observed), signal);
  const present = await presentImages(engine, [...needed, ...wanted], signal);
  const isMissing = (image: string) => !present.has(image);
  const { builds, again } = buildsFor(wanted, plan, { isMissing, staying, ran });
  await images.point(wanted, again, signal);
  return {
    builds: release.services.filter(({ name }) => builds.has(name)),
    ...{ images: wanted, present, again },
  };
}

/** An engine that has no images of these names. */
function without(
  names: ReadonlySet<string>,
  { engine }: Pick<PrepareParts["host"], "engine">,
): Pick<PrepareParts["host"]["engine"], "imageId" | "imageLabels"> {
  return {
    imageId: async (name, signal) =>
      names.has(name) ? undefined : await engine.imageId(name, signal),
    imageLabels: (id, signal) => engine.imageLabels(id, signal),
  };
}

/** Names of images that a plan builds and pulls none of: what has them now says nothing of what comes. */
function namesToCome(
  target: Target,
  release: Release,
  needed: readonly ReleaseService[],
  builds: readonly ReleaseService[],
): string[] {
  const pulled = withoutBuilt(release.model, needed)
    .filter((each) => isPulledAgain(target, release, each))
    .flatMap(({ image, builds, sideImages = [] }) => builds ? sideImages : [image, ...sideImages]);
  return [...namesBuilt(release.model, builds.map(({ name }) => name)), ...pulled];
}

/**
 * The name before the ids of a target's build caches, so that no build of another repository sees them,
 * or puts something there. The author of the configuration chooses the arguments of the build, and so
 * its frontend, that of the repository all else. Keyed, since a frontend may name any cache.
 */
function cacheNamespace(
  { key }: Pick<PrepareParts, "key">,
  { configuration, revision }: Pick<Target, "configuration" | "revision">,
  own: string,
): string {
  const names = [configuration.source.name, revision.source.name, own];
  // No text of an author has a zero byte, so that none has this digest.
  return key.digest(`caches of builds\0${JSON.stringify(names)}`);
}

/**
 * Removes built images that were refused for their labels: the engine would list these labels for
 * everybody, and a list too long to read would block other stacks from being pruned or removed.
 * Names point to the running images again.
 */
async function discardBuilt(
  { host, log }: Pick<PrepareParts, "host" | "log">,
  { model }: Pick<PreparedRelease["release"], "model">,
  { built, named, ran }: {
    readonly built: readonly ReleaseService[];
    readonly named: readonly BuiltImage[];
    readonly ran: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { engine, images } = host;
  try {
    const ids = new Set<string>();
    for (const name of namesBuilt(model, built.map((each) => each.name))) {
      const id = await engine.imageId(name, signal);
      if (id === undefined) continue;
      ids.add(id);
      await engine.removeImage(name, signal);
    }
    for (const id of ids) await engine.removeImage(keptName(id), signal);
    const back = named.filter(({ maker }) => built.some((each) => each.name === maker));
    await images.point(back, await imagesPresent(engine, back, ran, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warning(`images that are refused could not be removed: ${messageOf(error)}`);
  }
}

/** Images of a stack whose tags may have moved, as far as their registries answer. */
async function movedImages(
  parts: PrepareParts,
  target: Target,
  release: Release,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const services = release.services.filter(({ name }) =>
    target.deployment.forceImagePull || pullsAlways(release, name)
  ).map(({ name }) => name);
  const found = await resolveImages(parts, { release, services, known: {} }, signal);
  return Object.fromEntries(Object.entries(found).filter(([, image]) => image.includes("@")));
}

/** Request for the images of a target's services. */
function wanted(
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
): WantedImages {
  const { key, progress, deployment: { timeoutSeconds } } = target;
  return { key, services, call: hereCall(target, prepared), timeoutSeconds, progress };
}

/** Request for the builds of a target's services, with the arguments and caches that they may use. */
function wantedBuilds(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
): WantedImages {
  const asked = wanted(target, prepared, services);
  const given = withBuildArguments(asked.call.model ?? {}, target.deployment.build.args);
  const model = withOwnCaches(given, (own) => cacheNamespace(parts, target, own));
  return { ...asked, call: { ...asked.call, model } };
}

/** Arguments for compose, with build paths that exist before the files are switched. */
function hereCall(target: Target, prepared: PreparedRelease): ComposeCall {
  const { release, tree, rendered } = prepared;
  return {
    project: { name: target.key.name, directory: tree, files: ["-"], envFiles: [], profiles: [] },
    variables: actingVariables(release.invocation),
    model: withBuildPaths(release.model, rendered),
  };
}
