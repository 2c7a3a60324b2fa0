import {
  buildersOf,
  modelOfImages,
  pullsNever,
  requirePullable,
  type SideImage,
  sideImages,
} from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import {
  imagesBeside,
  own,
  type Release,
  type ReleaseService,
  type ServicePlan,
} from "../model/mod.ts";
import type { WantedImages } from "./wanted_images.ts";
import { type ImageIds, knownImages } from "./known_images.ts";
import type { PrepareParts } from "./parts.ts";

/**
 * Fetches missing images that services need besides their own: for hooks that run before their
 * start, and mounted ones. Compose's `pull` ignores these, and its `up`, which may not fetch, would
 * fail after the old container is gone. Images that the release builds are left to the build.
 *
 * Throws `pull_failed`, or `timeout`.
 */
export async function pullSideImages(
  { host: { engine, images } }: { readonly host: Pick<PrepareParts["host"], "engine" | "images"> },
  release: Pick<Release, "key" | "model" | "services">,
  wanted: WantedImages,
  signal: AbortSignal,
): Promise<void> {
  const builders = buildersOf(release.model);
  const missing = [];
  for (const each of sideImages(release.model, wanted.services)) {
    if (builders(each.service, each.image).length > 0) continue;
    if (await engine.imageId(each.image, signal) === undefined) missing.push(each);
  }
  if (missing.length === 0) return;
  // As in compose, a service's pull policy applies to its hooks, but not to mounted images.
  const refused = missing.filter((one) => one.use === "hook" && pullsNever(release, one.service));
  requirePullable(release, refused.map(({ service, image }) => ({ name: service, image })));
  await pullThese(images, missing, wanted, signal);
}

/** Services with the side images that registries have: all but those that the release builds. */
export function withoutBuilt(
  model: Release["model"],
  services: readonly ReleaseService[],
): ReleaseService[] {
  const builders = buildersOf(model);
  return services.map(({ sideImages: all = [], ...each }) => {
    const others = all.filter((image) => builders(each.name, image).length === 0);
    return { ...each, ...(others.length === 0 ? {} : { sideImages: others }) };
  });
}

/** Pulls images that `wanted.services` need beside their own: tags move. Throws `pull_failed`, `timeout`. */
export async function refreshSideImages(
  images: PrepareParts["host"]["images"],
  model: Release["model"],
  wanted: Omit<WantedImages, "services"> & { readonly services: readonly ReleaseService[] },
  signal: AbortSignal,
): Promise<void> {
  const needed = new Set(wanted.services.flatMap(({ sideImages: each = [] }) => each));
  const asked = sideImages(model, wanted.services).filter(({ image }) => needed.has(image));
  await pullThese(images, asked, wanted, signal);
}

async function pullThese(
  images: PrepareParts["host"]["images"],
  asked: readonly SideImage[],
  wanted: WantedImages,
  signal: AbortSignal,
): Promise<void> {
  if (asked.length === 0) return;
  const { model, services } = modelOfImages(asked);
  await images.pull({ ...wanted, services, call: { ...wanted.call, model } }, signal);
}

/**
 * Images to record that a release about to be rolled out uses besides those of its services.
 * Containers do not show them, so an unchanged service keeps its record in `ran`. What
 * is `known` of the preparation is what the rollout uses, wherever names lead by then; others are read
 * before it. Unreadable ones are left out.
 */
export async function imagesToRecord(
  engine: Pick<Engine, "imageId">,
  { release, services, ran, known }: {
    readonly release: Pick<Release, "services" | "swarm">;
    readonly services: readonly ServicePlan[];
    readonly ran: ImageIds;
    /** Ids that the containers are made with. */
    readonly known: ImageIds;
  },
  signal: AbortSignal,
): Promise<ImageIds> {
  // Tasks of a swarm have neither hooks nor mounted images.
  if (release.swarm !== undefined) return {};
  const made = services.filter(({ action }) => action === "create" || action === "recreate");
  const isMade = ({ name }: ReleaseService) => made.some((each) => each.name === name);
  const kept = release.services.filter((each) => !isMade(each)).flatMap(imagesBeside)
    .flatMap(({ name }) => {
      const id = own(ran, name);
      return id === undefined ? [] : [[name, id] as const];
    });
  // The rollout itself waits for an engine that went away, and reports its errors.
  const beside = release.services.filter(isMade).flatMap(imagesBeside);
  const now = await knownImages(engine, beside, { known }, signal).catch(() => {
    signal.throwIfAborted();
    return {};
  });
  return { ...Object.fromEntries(kept), ...now };
}
