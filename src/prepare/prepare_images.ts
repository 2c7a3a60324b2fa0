import {
  imagesByService,
  imagesFetched,
  imagesPresent,
  removeUnusedImages,
  requireExternals,
  requirePlainHooks,
  requireStackParts,
} from "../deploy/mod.ts";
import { namesBuilt, pullsAlways, requirePullable } from "../compose/mod.ts";
import {
  imagesBeside,
  isStackwrightError,
  messageOf,
  type ObservedStack,
  own,
  type Plan,
  type Release,
  type ReleaseService,
} from "../model/mod.ts";
import { NO_IMAGE, type PresentImages, presentImages, requireShortList } from "./short_list.ts";
import { noteAhead } from "./images_ahead.ts";
import { buildsFor, type BuiltImage, imagesBuilt, stayingFor } from "./builds_for.ts";
import { wanted, wantedBuilds } from "./asked_images.ts";
import {
  earlierImages,
  type ImageIds,
  isPulledAgain,
  knownImages,
  withoutNames,
} from "./known_images.ts";
import type { PrepareParts } from "./parts.ts";
import type { PreparedRelease } from "./prepare_release.ts";
import { starting } from "./recorded_images.ts";
import { pullSideImages, refreshSideImages, withoutBuilt } from "./side_images.ts";
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
  asked: { readonly prepared: PreparedRelease; readonly isDeployed: boolean },
  signal: AbortSignal,
): Promise<ImageIds> {
  const done = `pulled for ${asked.prepared.release.digest}`;
  const images = target.ahead?.get(done) ?? await newestImages(parts, target, asked, signal);
  target.ahead?.set(done, images);
  return images;
}

async function newestImages(
  parts: PrepareParts,
  target: Target,
  { prepared, isDeployed }: Parameters<typeof refreshImages>[2],
  signal: AbortSignal,
): Promise<ImageIds> {
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
  const images = [...asked.flatMap(imagesBeside), ...pullable];
  return await knownImages(parts.host.engine, images, { known: {} }, signal);
}

/** A plan whose images are prepared. */
interface Planned {
  readonly plan: Plan;
  readonly observed: ObservedStack;
  /** What {@link refreshImages} pulled for this plan. */
  readonly pulled?: ImageIds;
  /** What the deployed release ran, where that is the one to deploy. */
  readonly deployed?: ImageIds;
}

/**
 * Ensures that the engine has every image of a plan: pulls missing ones, builds changed ones. No
 * container is touched, and after a failed build names point to the same images as before. Scaling
 * a built service uses the image that its containers run, since its name may point to one that was
 * never released; a missing one is built again.
 *
 * Returns the images of a stack with their digests; for containers, the ids that they are made of, and
 * their hooks: another repository may take a name between this and the making.
 *
 * Throws `pull_failed` or `build_failed`, and what {@link requirePlainHooks} and {@link requireShortList} throw.
 */
export async function prepareImages(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  { plan, observed, ...ran }: Planned,
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
  noteAhead(parts, target, [...from.present.values()].map(({ id }) => id));
  const { engine } = parts.host;
  const running = imagesByService(observed);
  const earlier = earlierImages(plan, needed, { ...ran, running });
  const fetching = { needed, earlier, present: from.present };
  const images = await fetchImages(parts, target, prepared, fetching, signal);
  const built = await builtOnce(parts, target, prepared, from.builds, signal);
  const isFetched = built !== undefined;
  const toCome = isFetched ? [] : namesToCome(target, prepared.release, needed, from.builds);
  for (const { name, maker } of from.images) {
    const id = own(from.again, name) ?? own(built ?? {}, maker);
    if (id !== undefined) images[name] = id;
  }
  const judged = isFetched ? images : {};
  await requirePlainHooks(withoutNames(toCome, engine), prepared.release, needed, signal, {
    images: judged,
  });
  const services = needed.filter(({ name }) => acting.get(name) !== "start")
    .map((each) => ({ ...each, image: own(judged, each.name) ?? each.image }));
  // An id stays what it was; names may lead elsewhere since.
  const known = new Map(
    [...from.present].map(([name, listed]) => [isFetched ? listed.id : name, listed]),
  );
  for (const image of toCome) known.set(image, NO_IMAGE);
  try {
    await requireShortList(engine, prepared.release, { services, known }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const before = { built: built ?? {}, named: from.images, ran: running };
    await discardBuilt(parts, prepared.release, before, signal);
    throw error;
  }
  return images;
}

/** Builds what this run has not built for the release before; names lead to what it has. */
async function builtOnce(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<ImageIds | undefined> {
  const { engine, images } = parts.host;
  const done = `built for ${prepared.release.digest}`;
  const known = target.ahead?.get(done) ?? {};
  const before = await imagesPresent(engine, services, known, signal);
  await images.point(services, before, signal);
  const left = services.filter(({ name }) => own(before, name) === undefined);
  const asked = wantedBuilds(parts, target, prepared, left);
  const now = await images.build(asked, target.deployment.build, signal);
  const built = now && { ...before, ...now };
  target.ahead?.set(done, { ...known, ...built });
  return built;
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

/** Pulls what is missing and known by no id; answers with the ids of what the release does not build. */
async function fetchImages(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  { needed, earlier, present }: {
    readonly needed: readonly ReleaseService[];
    readonly earlier: ImageIds;
    readonly present: PresentImages;
  },
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { release } = prepared;
  const { engine, images } = parts.host;
  const stay = await imagesPresent(engine, needed, earlier, signal);
  const pulls = needed.filter(({ name, image, builds }) =>
    !builds && image !== "" && !present.has(image) && own(stay, name) === undefined
  );
  requirePullable(release, pulls);
  await images.pull(wanted(target, prepared, pulls), signal);
  await pullSideImages(parts, release, wanted(target, prepared, needed), signal);
  const fetched = imagesFetched({ model: release.model, services: needed });
  const ids = await knownImages(engine, fetched, { known: stay, present }, signal);
  noteAhead(parts, target, Object.values(ids));
  await images.keep(Object.values(ids), signal);
  return ids;
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
 * Removes built images that were refused for their labels: the engine would list these labels for
 * everybody, and a list too long to read would block other stacks from being pruned or removed.
 * Names point to the running images again.
 */
async function discardBuilt(
  { host, log }: Pick<PrepareParts, "host" | "log">,
  { key, model }: Pick<PreparedRelease["release"], "key" | "model">,
  { built, named, ran }: {
    /** What was built, by service. */
    readonly built: ImageIds;
    readonly named: readonly BuiltImage[];
    readonly ran: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { engine, images } = host;
  try {
    const ids = Object.values(built);
    for (const name of namesBuilt(model, Object.keys(built))) {
      const id = await engine.imageId(name, signal);
      // Another repository may have given the name to an image of its own meanwhile.
      if (id !== undefined && ids.includes(id)) await engine.removeImage(name, signal);
    }
    await removeUnusedImages(engine, { key, images: ids }, signal);
    const back = named.filter(({ maker }) => Object.hasOwn(built, maker));
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
