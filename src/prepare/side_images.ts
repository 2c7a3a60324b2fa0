import { modelOfImages, pullsNever, requirePullable, sideImages } from "../compose/mod.ts";
import type { Release } from "../model/mod.ts";
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
  const refused = missing.filter(({ use, service }) =>
    use === "hook" && pullsNever(release, service)
  );
  requirePullable(release, refused.map(({ service, image }) => ({ name: service, image })));
  const { model, services } = modelOfImages(missing);
  await images.pull({ ...wanted, services, call: { ...wanted.call, model } }, signal);
}
