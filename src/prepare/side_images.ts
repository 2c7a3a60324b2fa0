import {
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
import type { WantedImages } from "./images.ts";
import type { PrepareParts } from "./parts.ts";

/**
 * Fetches what services need beside their own images and the engine lacks: of hooks that run before
 * they start, and mounted ones. Nobody else does: `pull` of compose knows none of them, and its `up`,
 * which may not fetch, would find out when the container before is gone. What the release builds is
 * left to that.
 *
 * Throws `pull_failed`, or `timeout`.
 */
export async function pullSideImages(
  { host: { engine, images } }: { readonly host: Pick<PrepareParts["host"], "engine" | "images"> },
  release: Pick<Release, "key" | "model" | "services">,
  wanted: WantedImages,
  signal: AbortSignal,
): Promise<void> {
  const built = new Set(release.services.filter((each) => each.builds).map(({ image }) => image));
  const missing = [];
  for (const each of sideImages(release.model, wanted.services)) {
    if (built.has(each.image)) continue;
    if (await engine.imageId(each.image, signal) === undefined) missing.push(each);
  }
  if (missing.length === 0) return;
  // As compose has it: a policy is that of a service's hooks, and not of what it mounts.
  const refused = missing.filter((one) => one.use === "hook" && pullsNever(release, one.service));
  requirePullable(release, refused.map(({ service, image }) => ({ name: service, image })));
  await pullThese(images, missing, wanted, signal);
}

/**
 * Asks for the images that `wanted.services` need beside their own anew, which may have moved under
 * their names. Throws `pull_failed`, or `timeout`.
 */
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

/** Ids of the images that services need beside their own, by the names of {@link imagesBeside}. */
export async function idsBeside(
  engine: Pick<Engine, "imageId">,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const { name, image } of services.flatMap(imagesBeside)) {
    const id = await engine.imageId(image, signal);
    if (id !== undefined) ids[name] = id;
  }
  return ids;
}

/**
 * Images that a release about to be rolled out runs beside those of its services. No container
 * tells it: one that is kept has what was recorded before, in `ran`. Looked at before: should a name
 * move meanwhile, the next look replaces once too often, and not once too seldom. What
 * cannot be looked at is left out.
 */
export async function imagesToRecord(
  engine: Pick<Engine, "imageId">,
  { release, services, ran }: {
    readonly release: Pick<Release, "services" | "swarm">;
    readonly services: readonly ServicePlan[];
    readonly ran: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  // A task of a swarm has neither hooks nor mounted images.
  if (release.swarm !== undefined) return {};
  const made = services.filter(({ action }) => action === "create" || action === "recreate");
  const isMade = ({ name }: ReleaseService) => made.some((each) => each.name === name);
  const kept = release.services.filter((each) => !isMade(each)).flatMap(imagesBeside)
    .flatMap(({ name }) => {
      const id = own(ran, name);
      return id === undefined ? [] : [[name, id] as const];
    });
  // The rollout that follows waits for an engine that went away, and says what is wrong with it.
  const now = await idsBeside(engine, release.services.filter(isMade), signal).catch(() => {
    signal.throwIfAborted();
    return {};
  });
  return { ...Object.fromEntries(kept), ...now };
}
