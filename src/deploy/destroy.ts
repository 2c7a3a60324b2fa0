import type { Engine, ResourceSummary } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  isKeptName,
  isStackwrightError,
  keptName,
  messageOf,
  type ObservedContainer,
  own,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { inOrder } from "../compose/mod.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** Resources to remove, besides containers and networks. */
export interface Destroy {
  readonly key: StackKey;
  readonly removeVolumes: boolean;
  /** Refuses, by throwing, to remove more: asked before each removal. */
  readonly requireStill?: (() => void) | undefined;
  /** Whether named volumes stay all the same: a swarm stack of that name may use them. */
  readonly keepsNamed?: boolean;
  /** Why a volume of the stack's name stays all the same; by default, none does. */
  readonly whyKept?: ((volume: ResourceSummary) => string | undefined) | undefined;
  readonly removeImages: boolean;
  /** Ids of images needed besides those of the containers: for hooks, and mounted ones. */
  readonly recordedImages?: readonly string[];
  /** Images that are needed although no container uses them; none by default. */
  readonly keptImages?: ReadonlySet<string>;
  /** See {@link removeUnusedImages}. */
  readonly ownNames?: ReadonlySet<string>;
  /** Told why images stay: what is refused about images keeps no stack from being removed. */
  readonly onImagesLeft?: (error: StackwrightError) => void;
  /** Dependencies by service, as far as known; a service goes before its dependencies. */
  readonly dependsOn: Readonly<Record<string, readonly string[]>>;
}

/** Data of a removed stack, named as {@link dataText} tells it. */
export interface RemovedData {
  readonly deleted: readonly string[];
  /** Data that somebody else has under the stack's name, with the reason why it stays. */
  readonly kept: readonly string[];
}

/**
 * Removes everything of a compose project from an engine. May be called again after an
 * interruption: missing resources are fine.
 *
 * A service goes before the ones it depends on. External networks and volumes carry no project
 * label and stay, and so do networks that others are connected to. Returns the volumes that were
 * deleted with their data, and those that {@link Destroy.whyKept} kept.
 */
export async function destroyStack(
  engine: Engine,
  destroy: Destroy,
  signal: AbortSignal,
): Promise<RemovedData> {
  const project = { [COMPOSE_LABELS.project]: destroy.key.name };
  const containers = await engine.listContainers(project, signal);
  for (const { id } of inRemovalOrder(containers, destroy.dependsOn)) {
    destroy.requireStill?.();
    await engine.stopContainer(id, undefined, signal);
    // A container takes as long to stop as it likes, and its anonymous volumes go with it.
    destroy.requireStill?.();
    await engine.removeContainer(id, { force: true, volumes: destroy.removeVolumes }, signal);
  }
  for (const network of await engine.listNetworks(project, signal)) {
    destroy.requireStill?.();
    await engine.removeNetwork(network.id, signal).catch((error) => {
      if (!isInUse(error)) throw error;
    });
  }
  const goes = destroy.removeVolumes && destroy.keepsNamed !== true;
  const volumes = goes ? await removeVolumesOf(engine, destroy, signal) : NOTHING;
  if (!destroy.removeImages) return volumes;
  destroy.requireStill?.();
  const images = [
    ...containers.map((each) => each.imageId),
    ...(destroy.recordedImages ?? []),
  ].filter((id) => destroy.keptImages?.has(id) !== true);
  try {
    await removeUnusedImages(engine, images, signal, destroy.ownNames);
  } catch (error) {
    signal.throwIfAborted();
    if (!isStackwrightError(error, "engine_refused")) throw error;
    destroy.onImagesLeft?.(error);
  }
  return volumes;
}

/** What a removal that deletes no volumes tells of data. */
const NOTHING: RemovedData = { deleted: [], kept: [] };

/**
 * Volumes with the name of a stack, sorted: those of its compose project and those of its swarm
 * stack, since a stack may have changed from one to the other.
 */
export async function volumesOf(
  engine: Pick<Engine, "listVolumes">,
  { name }: StackKey,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  const found = await Promise.all(
    OF_STACKS.map((each) => engine.listVolumes({ [each]: name }, signal)),
  );
  const byName = new Map(found.flat().map((each) => [each.name, each]));
  return [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Tells which of {@link volumesOf} a destroy deletes, and which stay; deletes nothing. */
export function sortedOut(
  volumes: readonly ResourceSummary[],
  whyKept: NonNullable<Destroy["whyKept"]>,
): RemovedData {
  const told = volumes.map((each) => ({ name: `volume ${each.name}`, why: whyKept(each) }));
  return {
    deleted: told.filter(({ why }) => why === undefined).map(({ name }) => name),
    kept: told.filter(({ why }) => why !== undefined).map(({ name, why }) => `${name}: ${why}`),
  };
}

/**
 * Removes the {@link volumesOf} a stack that still are its own: whatever comes before takes minutes,
 * and another stack may have made a volume of that name since. `attempt` removes one, and may repeat that.
 */
export async function removeVolumesOf(
  engine: Pick<Engine, "listVolumes" | "findVolumes" | "removeVolume">,
  { key, requireStill, whyKept = () => undefined }: Pick<
    Destroy,
    "key" | "requireStill" | "whyKept"
  >,
  signal: AbortSignal,
  attempt: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<RemovedData> {
  const all: RemovedData[] = [];
  for (const { name } of await volumesOf(engine, key, signal)) {
    all.push(
      await attempt(async () => {
        const there = (await engine.findVolumes([name], signal))
          .filter(({ labels }) => OF_STACKS.some((each) => labels[each] === key.name));
        const data = sortedOut(there, whyKept);
        if (data.deleted.length === 0) return data;
        requireStill?.();
        await engine.removeVolume(name, signal);
        return data;
      }),
    );
  }
  return { deleted: all.flatMap((each) => each.deleted), kept: all.flatMap((each) => each.kept) };
}

/** Labels with the name of the stack that something was made for. */
const OF_STACKS = [COMPOSE_LABELS.project, STACK_LABELS.namespace];

/** The networks of a stack, as containers or in a swarm. */
export async function networksOf(
  engine: Pick<Engine, "listNetworks">,
  { name }: StackKey,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  const found = await Promise.all(
    OF_STACKS.map((each) => engine.listNetworks({ [each]: name }, signal)),
  );
  return found.flat();
}

/** Whether an engine refuses to remove a network or a volume because containers have it. */
export function isInUse(error: unknown): boolean {
  return isStackwrightError(error, "engine_refused") &&
    /in use|active endpoints/.test(messageOf(error));
}

/**
 * Text on deleted data, to append to a sentence: names each, such as `volume shop_store`, and what
 * stays although its name is the stack's.
 */
export function dataText(verb: "deletes" | "deleted", { deleted, kept }: RemovedData): string {
  const keeps = verb === "deletes" ? "keeps" : "kept";
  return [
    ...deleted.map((each) => `; ${verb} ${each}`),
    ...kept.map((each) => `; ${keeps} ${each}`),
  ]
    .join("");
}

/**
 * Removes images by id, with the names under which they were kept. Images that any container uses
 * stay, and so do, when `ownNames` is given, images with a name outside of it: somebody else gave
 * that name.
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

function inRemovalOrder(containers: readonly ObservedContainer[], dependsOn: Destroy["dependsOn"]) {
  const services = [...new Set(containers.map((each) => each.service))];
  const order = inOrder(services, (name) => own(dependsOn, name) ?? []).reverse();
  return [...containers].sort((a, b) => order.indexOf(a.service) - order.indexOf(b.service));
}
