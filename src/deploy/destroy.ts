import type { Engine, ResourceSummary } from "../docker/engine.ts";
import type { ObjectKind, SwarmObject } from "../docker/swarm.ts";
import {
  beyondThings,
  canComeAgain,
  COMPOSE_LABELS,
  errors,
  fewOf,
  fitting,
  isBuiltForOthers,
  isKeptName,
  isStackwrightError,
  messageOf,
  type ObservedContainer,
  own,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { inOrder } from "../compose/mod.ts";
import { inServiceOrder } from "./in_service_order.ts";
import { leftHooks } from "./left_hooks.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** What a stack is made of, by its engine or swarm. */
export type Kind = "container" | "service" | "secret" | "config" | "network" | "volume";
type Named = Pick<ResourceSummary, "name" | "labels">;
type StackObject = SwarmObject & { readonly kind: "secret" | "config"; readonly kinds: ObjectKind };

/** Resources to remove, besides containers and networks. */
export interface Destroy {
  readonly key: StackKey;
  readonly removeVolumes: boolean;
  /** Refuses, by throwing, to remove more: asked before each removal. */
  readonly requireStill?: (() => void) | undefined;
  /** Whether named volumes stay all the same: a swarm stack of that name may use them. */
  readonly keepsNamed?: boolean;
  /** Why a thing of the stack's name stays all the same; by default, none does. */
  readonly whyKept?: ((thing: Named, kind: Kind) => string | undefined) | undefined;
  readonly removeImages: boolean;
  /** Ids of images needed besides those of the containers: for hooks, and mounted ones. */
  readonly recordedImages?: readonly string[];
  /** Images that are needed although no container uses them; none by default. */
  readonly keptImages?: Pick<ReadonlySet<string>, "has">;
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
  /** What somebody else has under the stack's name, with the reason why it stays. */
  readonly kept: readonly string[];
}

/**
 * Removes everything of a compose project from an engine. May be called again after an
 * interruption: missing resources are fine.
 *
 * A service goes before the ones it depends on. Networks and volumes that others made carry no
 * project label and stay, and so do networks that others are connected to. Returns the volumes that
 * were deleted with their data, and what {@link Destroy.whyKept} kept.
 */
export async function destroyStack(
  engine: Engine,
  destroy: Destroy,
  signal: AbortSignal,
): Promise<RemovedData> {
  const project = { [COMPOSE_LABELS.project]: destroy.key.name };
  const all = requireFewThings(
    destroy.key,
    "container",
    [
      ...await engine.listContainers(project, signal),
      ...await leftHooks(engine, destroy.key, signal),
    ],
  );
  const { goes: containers, kept } = sortedOut("container", all, destroy.whyKept);
  for (const { id } of inRemovalOrder(containers, destroy.dependsOn)) {
    destroy.requireStill?.();
    await engine.stopContainer(id, undefined, signal);
    // A container takes as long to stop as it likes, and its anonymous volumes go with it.
    destroy.requireStill?.();
    await engine.removeContainer(id, { force: true, volumes: destroy.removeVolumes }, signal);
  }
  const networks = sortedOut(
    "network",
    requireFewThings(destroy.key, "network", await engine.listNetworks(project, signal)),
    destroy.whyKept,
  );
  for (const { id } of networks.goes) {
    destroy.requireStill?.();
    await engine.removeNetwork(id, signal).catch((error) => {
      if (!isInUse(error)) throw error;
    });
  }
  const goes = destroy.removeVolumes && destroy.keepsNamed !== true;
  const volumes = goes ? await removeVolumesOf(engine, destroy, signal) : NOTHING_REMOVED;
  const data = { ...volumes, kept: [...kept, ...networks.kept, ...volumes.kept] };
  if (!destroy.removeImages) return data;
  destroy.requireStill?.();
  const images = [
    ...containers.map((each) => each.imageId),
    ...(destroy.recordedImages ?? []),
  ].filter((id) => destroy.keptImages?.has(id) !== true);
  try {
    await removeUnusedImages(engine, { ...destroy, images }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isStackwrightError(error, "engine_refused")) throw error;
    destroy.onImagesLeft?.(error);
  }
  return data;
}

/** What a removal that deletes no volumes tells of data. */
export const NOTHING_REMOVED: RemovedData = { deleted: [], kept: [] };

/**
 * Things under the name of a stack, by a label. Throws `engine_refused` for more than may be looked at: the
 * engine of another context may tell of any number, and each is judged, removed and told of.
 */
export function requireFewThings<T>(
  { name }: StackKey,
  kind: Kind,
  things: readonly T[],
  label: string = COMPOSE_LABELS.project,
): readonly T[] {
  const beyond = beyondThings(name, { kind, label, count: things.length });
  if (beyond !== undefined) throw errors.engine_refused(beyond);
  return things;
}

/**
 * Volumes with the name of a stack, sorted: those of its compose project and those of its swarm
 * stack, since a stack may have changed from one to the other. Throws as {@link requireFewThings}.
 */
export async function volumesOf(
  engine: Pick<Engine, "listVolumes">,
  key: StackKey,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  const found = await Promise.all(OF_STACKS.map(async (each) => {
    const all = await engine.listVolumes({ [each]: key.name }, signal);
    return requireFewThings(key, "volume", all, each);
  }));
  const byName = new Map(found.flat().map((each) => [each.name, each]));
  return [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Tells which things with a stack's name a removal takes away, and which stay, with the reasons. */
export function sortedOut<T extends Named>(
  kind: Kind,
  things: readonly T[],
  whyKept: Destroy["whyKept"],
): { readonly goes: readonly T[]; readonly kept: readonly string[] } {
  const told = things.map((each) => ({ each, why: whyKept?.(each, kind) }));
  return {
    goes: told.filter(({ why }) => why === undefined).map(({ each }) => each),
    kept: told.flatMap(({ each, why }) =>
      why === undefined ? [] : [`${kind} ${each.name}: ${why}`]
    ),
  };
}

/**
 * Removes the {@link volumesOf} a stack that still are its own: whatever comes before takes minutes,
 * and another stack may have made a volume of that name since. `attempt` removes one, and may repeat that.
 */
export async function removeVolumesOf(
  engine: Pick<Engine, "everyContainer" | "listVolumes" | "findVolumes" | "removeVolume">,
  { key, requireStill, whyKept }: Pick<
    Destroy,
    "key" | "requireStill" | "whyKept"
  >,
  signal: AbortSignal,
  attempt: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<RemovedData> {
  const all: RemovedData[] = [];
  for (const { name } of await volumesOf(engine, key, signal)) {
    const removed = await attempt(async () => {
      const there = (await engine.findVolumes([name], signal))
        .filter(({ labels }) => OF_STACKS.some((each) => labels[each] === key.name));
      const { goes, kept } = sortedOut("volume", there, whyKept);
      if (goes.length === 0) return { deleted: [], kept };
      requireStill?.();
      await engine.removeVolume(name, signal);
      return { deleted: [`volume ${name}`], kept };
    }).catch(async (error) => {
      throw isInUse(error) ? await usedVolume(engine, { key, name, error }, signal) : error;
    });
    all.push(removed);
  }
  return { deleted: all.flatMap((each) => each.deleted), kept: all.flatMap((each) => each.kept) };
}

/** The refusal of a volume that is in use, with the names of the containers that the engine tells by ids. */
async function usedVolume(
  engine: Pick<Engine, "everyContainer">,
  { key, name, error }: { readonly name: string; readonly error: unknown } & Pick<Destroy, "key">,
  signal: AbortSignal,
): Promise<StackwrightError> {
  const told = messageOf(error);
  const usersOf = async () =>
    await engine.everyContainer((each) => told.includes(each.id) ? each.name : undefined, signal);
  // What is refused is told all the same, with the ids.
  const users = await usersOf().catch((): string[] => []);
  signal.throwIfAborted();
  const by = users.length === 0 ? told : `container ${fewOf(users.sort())}`;
  return errors.engine_refused(
    `remove what has volume ${name} in use first (${by}), it goes at the next attempt then; ` +
      `${key.name} is removed but for its data. After a removal over the API ask again: polls bring back ` +
      "what is still described",
    { cause: error },
  );
}

/** Labels with the name of the stack that something was made for. */
const OF_STACKS = [COMPOSE_LABELS.project, STACK_LABELS.namespace];

/** The networks of a stack, as containers or in a swarm. Throws as {@link requireFewThings}. */
export async function networksOf(
  engine: Pick<Engine, "listNetworks">,
  key: StackKey,
  signal: AbortSignal,
): Promise<readonly ResourceSummary[]> {
  const found = await Promise.all(OF_STACKS.map(async (each) => {
    const all = await engine.listNetworks({ [each]: key.name }, signal);
    return requireFewThings(key, "network", all, each);
  }));
  return found.flat();
}

/** The secrets and configs of a swarm's stack. Throws as {@link requireFewThings}. */
export async function objectsOf(
  { swarm }: { readonly swarm: Pick<Engine["swarm"], "objects"> },
  key: StackKey,
  signal: AbortSignal,
): Promise<readonly StackObject[]> {
  const found: StackObject[] = [];
  for (const [kind, kinds] of [["secret", "secrets"], ["config", "configs"]] as const) {
    const label = STACK_LABELS.namespace;
    const all = await swarm.objects(kinds, { [label]: key.name }, signal);
    const few = requireFewThings(key, kind, all, label);
    found.push(...few.map((each) => ({ ...each, kind, kinds })));
  }
  return found;
}

/** Whether an engine refuses to remove a network or a volume because containers have it. */
export function isInUse(error: unknown): boolean {
  return isStackwrightError(error, "engine_refused") &&
    /in use|active endpoints/.test(messageOf(error));
}

/** Characters of what is named of deleted data, and of what stays: more than a stack of any use has. */
const MOST_NAMED = 8192;

/**
 * Text on deleted data, to append to a sentence: it names each, such as `volume shop_store`, and what
 * stays; of very many the first, and how many more there are.
 */
export function dataText(verb: "deletes" | "deleted", { deleted, kept }: RemovedData): string {
  return named(verb, deleted) + named(verb === "deletes" ? "keeps" : "kept", kept);
}

function named(verb: string, all: readonly string[]): string {
  const few = fitting(all, MOST_NAMED);
  const more = all.length - few.length;
  return [...few, ...(more > 0 ? [`${more} more`] : [])].map((each) => `; ${verb} ${each}`)
    .join("");
}

/**
 * Removes images of a stack by id, with the names under which they were kept. Images that any container uses
 * stay, and so do those that no registry has and that were not built for the stack ({@link canComeAgain}), or
 * for another one, too, and, when `ownNames` is given, images with a name outside of it: somebody else gave it.
 */
export async function removeUnusedImages(
  engine: Engine,
  { key, images, ownNames }: Pick<Destroy, "key" | "ownNames"> & {
    readonly images: readonly string[];
  },
  signal: AbortSignal,
): Promise<void> {
  if (images.length === 0) return;
  const used = await engine.imagesInUse(signal);
  const wanted = new Set(images.filter((each) => !used.has(each)));
  const going = (await engine.listImages(signal))
    .filter((each) => wanted.has(each.id) && canComeAgain(each, key.name));
  for (const { id, tags } of going) {
    const kept = tags.filter(isKeptName);
    const others = kept.filter((tag) => isBuiltForOthers(tag, key.name));
    const isTheirs = others.length > 0 || ownNames !== undefined &&
        tags.some((tag) => !isKeptName(tag) && !ownNames.has(tag));
    for (const name of kept.filter((tag) => !others.includes(tag))) {
      await engine.removeImage(name, signal);
    }
    // With its last name an image goes by itself; by its id it would take along one that it got since.
    const isGone = kept.length > 0 && kept.length === tags.length;
    if (!isTheirs && !isGone) await engine.removeImage(id, signal);
  }
}

function inRemovalOrder(containers: readonly ObservedContainer[], dependsOn: Destroy["dependsOn"]) {
  const services = [...new Set(containers.map((each) => each.service))];
  const order = inOrder(services, (name) => own(dependsOn, name) ?? []).reverse();
  return inServiceOrder(containers, order);
}
