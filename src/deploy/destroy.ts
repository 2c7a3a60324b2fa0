import type { Engine } from "../docker/engine.ts";
import { COMPOSE_LABELS, type ObservedContainer, own, type StackKey } from "../model/mod.ts";
import { inOrder } from "./follows.ts";

/** What to remove, besides containers and networks. */
export interface Destroy {
  readonly key: StackKey;
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
  /** Images that somebody needs although no container uses them; none are by default. */
  readonly keptImages?: ReadonlySet<string>;
  /** Services that must outlive a service, by name, as far as known. */
  readonly dependsOn: Readonly<Record<string, readonly string[]>>;
}

/**
 * Removes everything of a compose project from an engine. May be called again after it was
 * interrupted: what is gone already is fine.
 *
 * A service goes before the ones it depends on. External networks and volumes carry no project label
 * and stay.
 */
export async function destroyStack(
  engine: Engine,
  destroy: Destroy,
  signal: AbortSignal,
): Promise<void> {
  const project = { [COMPOSE_LABELS.project]: destroy.key.name };
  const containers = await engine.listContainers(project, signal);
  for (const container of inRemovalOrder(containers, destroy.dependsOn)) {
    await engine.stopContainer(container.id, undefined, signal);
    await engine.removeContainer(
      container.id,
      { force: true, volumes: destroy.removeVolumes },
      signal,
    );
  }
  for (const network of await engine.listNetworks(project, signal)) {
    await engine.removeNetwork(network.id, signal);
  }
  if (destroy.removeVolumes) {
    for (const volume of await engine.listVolumes(project, signal)) {
      await engine.removeVolume(volume.name, signal);
    }
  }
  if (!destroy.removeImages) return;
  const images = containers.map((each) => each.imageId)
    .filter((id) => destroy.keptImages?.has(id) !== true);
  await removeUnusedImages(engine, images, signal);
}

/** Removes images by their ids; those that any container still needs stay. */
export async function removeUnusedImages(
  engine: Engine,
  images: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const candidates = new Set(images);
  if (candidates.size === 0) return;
  const used = await engine.imagesInUse(signal);
  for (const image of candidates) {
    if (!used.has(image)) await engine.removeImage(image, signal);
  }
}

function inRemovalOrder(
  containers: readonly ObservedContainer[],
  dependsOn: Destroy["dependsOn"],
): ObservedContainer[] {
  const services = [...new Set(containers.map((each) => each.service))];
  const order = inOrder(services, (name) => own(dependsOn, name) ?? []).reverse();
  return [...containers].sort((a, b) => order.indexOf(a.service) - order.indexOf(b.service));
}
