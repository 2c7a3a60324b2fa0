import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  isKeptName,
  keptName,
  type ObservedContainer,
  own,
  type StackKey,
} from "../model/mod.ts";
import { inOrder } from "../compose/mod.ts";
import { stopAndRemove } from "./compose/act_on_services.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** Things to remove, besides containers and networks. */
export interface Destroy {
  readonly key: StackKey;
  readonly removeVolumes: boolean;
  /** Whether volumes with a name stay all the same: who uses them besides goes later. */
  readonly keepsNamed?: boolean;
  readonly removeImages: boolean;
  /** Ids of images that it needed beside those of its containers: of hooks, and mounted ones. */
  readonly recordedImages?: readonly string[];
  /** Images that somebody needs although no container uses them; none are by default. */
  readonly keptImages?: ReadonlySet<string>;
  /** See {@link removeUnusedImages}. */
  readonly ownNames?: ReadonlySet<string>;
  /** Services that must outlive a service, by name, as far as known. */
  readonly dependsOn: Readonly<Record<string, readonly string[]>>;
}

/**
 * Removes everything of a compose project from an engine. May be called again after it was
 * interrupted: what is gone already is fine.
 *
 * A service goes before the ones it depends on. External networks and volumes carry no project label
 * and stay. Returns the names of the volumes that are gone with their data.
 */
export async function destroyStack(
  engine: Engine,
  destroy: Destroy,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const project = { [COMPOSE_LABELS.project]: destroy.key.name };
  const containers = await engine.listContainers(project, signal);
  for (const { id } of inRemovalOrder(containers, destroy.dependsOn)) {
    await stopAndRemove(engine, id, signal, destroy.removeVolumes);
  }
  for (const network of await engine.listNetworks(project, signal)) {
    await engine.removeNetwork(network.id, signal);
  }
  const goes = destroy.removeVolumes && destroy.keepsNamed !== true;
  const volumes = goes ? await volumesOf(engine, destroy.key, signal) : [];
  for (const name of volumes) await engine.removeVolume(name, signal);
  if (!destroy.removeImages) return volumes;
  const images = [
    ...containers.map((each) => each.imageId),
    ...(destroy.recordedImages ?? []),
  ].filter((id) => destroy.keptImages?.has(id) !== true);
  await removeUnusedImages(engine, images, signal, destroy.ownNames);
  return volumes;
}

/**
 * Names of the volumes of a stack, which a destroy deletes unless they are to stay, sorted: those made
 * for its containers, and those made for its tasks in a swarm, for it may have been the other before.
 */
export async function volumesOf(
  engine: Pick<Engine, "listVolumes">,
  { name }: StackKey,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const labels = [COMPOSE_LABELS.project, STACK_LABELS.namespace];
  const found = await Promise.all(
    labels.map((each) => engine.listVolumes({ [each]: name }, signal)),
  );
  return [...new Set(found.flat().map((each) => each.name))].sort();
}

/** The volumes that go, to be added to a sentence: each by name, since its data goes with it. */
export function volumesText(verb: "deletes" | "deleted", names: readonly string[]): string {
  return names.map((name) => `; ${verb} volume ${name}`).join("");
}

/**
 * Removes images by their ids, with the names by which they were kept; those that any container still
 * needs stay, and those with a name that is none of `ownNames`, where there are such: it was given by
 * somebody else, and is theirs.
 */
export async function removeUnusedImages(
  engine: Engine,
  images: readonly string[],
  signal: AbortSignal,
  ownNames?: ReadonlySet<string>,
): Promise<void> {
  if (images.length === 0) return;
  const used = await engine.imagesInUse(signal);
  const tagsOf = new Map((await engine.listImages(signal)).map(({ id, tags }) => [id, tags]));
  for (const id of new Set(images.filter((each) => !used.has(each)))) {
    const tags = tagsOf.get(id) ?? [];
    const names = tags.filter((tag) => !isKeptName(tag));
    const isTheirs = ownNames !== undefined && names.some((name) => !ownNames.has(name));
    if (names.length < tags.length) await engine.removeImage(keptName(id), signal);
    if (!isTheirs) await engine.removeImage(id, signal);
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
