import {
  type FilesVolume,
  filesVolumes,
  objectAt,
  objectsAt,
  serviceOf,
  servicesOf,
  textAt,
} from "../compose/mod.ts";
import type { Engine, ResourceSummary } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  errors,
  fewOf,
  isOurs,
  isStackwrightError,
  LABELS,
  MANAGER,
  own,
  type Progress,
  type Release,
  type StackKey,
} from "../model/mod.ts";
import type { Clock, Files } from "../system/mod.ts";
import { withPlainDollars } from "./engine/plain_dollars.ts";
import { tarOf } from "./engine/tar.ts";
import { batches, PLACE } from "./file_batches.ts";
import { RealTree } from "./real_tree.ts";

interface PlaceFilesParts {
  readonly engine: Engine;
  readonly files: Files;
  readonly clock: Pick<Clock, "now">;
  readonly progress: Progress;
}

/** Files for containers on an engine that does not share our file system. */
interface FilesToPlace {
  readonly release: Release;
  /** Directory of the files, with encrypted ones decrypted. */
  readonly tree: string;
  /** Services whose containers are about to be made or started. */
  readonly services: readonly string[];
  /** Images that services ran, for names that no longer point to an image. */
  readonly images?: Readonly<Record<string, string>>;
}

/** Name of the empty volume that marks a copy as complete. */
const markOf = (volume: string) => `${volume}_whole`;

/** Name of the container that fills a volume. */
const copierOf = (volume: string) => `${volume}_copy`;

/**
 * Copies files that a release mounts into volumes, where a complete copy does not exist yet. A
 * volume is named after its content, so a complete one is never written again. It is filled through
 * a container of the service's own image which is never started. Interrupted copies are made anew.
 *
 * Throws `config_invalid` for a file that is too large, `conflict` where another stack has a volume of
 * a copy's name, and what the engine throws. Running containers are not touched.
 */
export async function placeFiles(
  parts: PlaceFilesParts,
  work: FilesToPlace,
  signal: AbortSignal,
): Promise<void> {
  const wanted = filesVolumes(work.release.model, work.services);
  if (wanted.length === 0) return;
  const { engine, progress } = parts;
  const names = wanted.map(({ name }) => name);
  await removeHalfCopied(engine, (name) => names.includes(name), signal);
  const found = await engine.findVolumes([...names, ...names.map(markOf)], signal);
  requireCopies(found, work.release.key);
  const there = new Set(found.map(({ name }) => name));
  const whole = await wholeCopies(engine, names.filter((name) => there.has(name)), there, signal);
  for (const name of [...whole].filter((each) => !there.has(markOf(each)))) {
    // The container that proves the copy complete may be gone next time.
    await engine.makeVolume({ Name: markOf(name), Labels: labelsOf(work.release, name) }, signal);
  }
  for (const volume of wanted.filter(({ name }) => !whole.has(name))) {
    progress(`copying ${volume.path} to the engine`);
    const isLeft = [volume.name, markOf(volume.name)].some((each) => there.has(each));
    if (isLeft) await discard(engine, volume.name, signal);
    await fill(parts, work, volume, signal);
  }
}

/**
 * The volumes with complete copies. A leftover container of a copy is no safe sign of an incomplete
 * one: engines are tidied (`docker container prune`) between the death of one process and the start
 * of the next. So each complete copy has a marker volume. If that was tidied away, too, a container
 * of a stack that mounts the copy proves it complete.
 */
async function wholeCopies(
  engine: Pick<Engine, "listContainers" | "inspectContainer">,
  copies: readonly string[],
  there: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const whole = new Set(copies.filter((name) => there.has(markOf(name))));
  if (whole.size === copies.length) return whole;
  for (const { id } of await engine.listContainers({ [LABELS.deployment]: undefined }, signal)) {
    for (const { name } of (await engine.inspectContainer(id, signal))?.mounts ?? []) {
      if (copies.includes(name)) whole.add(name);
    }
  }
  return whole;
}

/**
 * Removes the volumes with copies for a stack, except `kept`; copies that containers still mount
 * stay. Nothing is lost: these volumes hold copies only.
 */
export async function removePlacedFiles(
  engine: Pick<Engine, "listContainers" | "listVolumes" | "removeContainer" | "removeVolume">,
  key: StackKey,
  kept: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const copies = (await placedFiles(engine, key, signal)).map(({ labels }) => labels[LABELS.files]);
  for (const name of new Set(copies)) {
    if (name === undefined || kept.has(name)) continue;
    try {
      await discard(engine, name, signal);
    } catch (error) {
      if (!isStackwrightError(error, "engine_refused")) throw error;
    }
  }
}

/** The volumes with copies of files for a stack, and their markers. */
export async function placedFiles(
  engine: Pick<Engine, "listVolumes">,
  { name }: StackKey,
  signal: AbortSignal,
) {
  const labels = {
    [LABELS.manager]: MANAGER,
    [LABELS.deployment]: name,
    [LABELS.files]: undefined,
  };
  return await engine.listVolumes(labels, signal);
}

/** Refuses volumes that are no copies for the stack: their content may be another repository's. */
function requireCopies(found: readonly Pick<ResourceSummary, "name" | "labels">[], key: StackKey) {
  const other = found.find(({ name, labels }) => {
    const copy = labels[LABELS.files] ?? "";
    return !isOurs({ labels }) || labels[LABELS.deployment] !== key.name ||
      ![copy, markOf(copy)].includes(name);
  });
  if (other === undefined) return;
  throw errors.conflict(
    `volume ${other.name} of the engine has the name of a copy of ${key.name}'s files, and is none; ` +
      "remove it, or give it another name. Nothing was touched",
  );
}

async function removeHalfCopied(
  engine: Pick<Engine, "listContainers" | "removeContainer" | "removeVolume">,
  isMeant: (volume: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const each of await engine.listContainers({ [LABELS.files]: undefined }, signal)) {
    const { id, name, labels } = each;
    const volume = labels[LABELS.files] ?? "";
    // Containers of stacks have the label as well where their image's author set it.
    const isOfStack = (labels[COMPOSE_LABELS.project] ?? "") !== "";
    if (!isMeant(volume) || name !== copierOf(volume) || isOfStack) continue;
    await engine.removeContainer(id, { force: true, volumes: true }, signal);
    await removeCopy(engine, volume, signal);
  }
}

/** Removes a copy, complete or not, and a container left from making it. */
async function discard(
  engine: Pick<Engine, "listContainers" | "removeContainer" | "removeVolume">,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await removeHalfCopied(engine, (each) => each === name, signal);
  await removeCopy(engine, name, signal);
}

/** Removes the marker last: a copy that is still mounted stays, and stays marked. */
async function removeCopy(engine: Pick<Engine, "removeVolume">, name: string, signal: AbortSignal) {
  await engine.removeVolume(name, signal);
  await engine.removeVolume(markOf(name), signal);
}

async function fill(
  { engine, files, clock }: PlaceFilesParts,
  work: FilesToPlace,
  { name, path }: FilesVolume,
  signal: AbortSignal,
): Promise<void> {
  const original = await originalOf(files, work.tree, path);
  const { Image, platform } = await imageFor(engine, work, name, signal);
  const Labels = labelsOf(work.release, name);
  const VolumeOptions = { NoCopy: true, Labels };
  const mount = { Type: "volume", Source: name, Target: `/${PLACE}`, ReadOnly: false } as const;
  const id = await engine.makeContainer({
    name: copierOf(name),
    platform,
    body: {
      Image,
      AttachStdout: false,
      AttachStderr: false,
      // These labels replace the image's, which could claim another project's container.
      Labels: {
        [LABELS.files]: name,
        [COMPOSE_LABELS.project]: "",
        [COMPOSE_LABELS.oneOff]: "True",
      },
      Env: [],
      // The engine demands a command, and an image may have none; the container is never started.
      Entrypoint: ["-"],
      HostConfig: { NetworkMode: "none", Mounts: [{ ...mount, VolumeOptions }] },
    },
    connect: {},
  }, signal);
  const seconds = Math.floor(clock.now().getTime() / 1000);
  try {
    for await (const entries of batches(files, original)) {
      await engine.unpackInto(id, tarOf(entries, seconds), signal);
    }
  } catch (error) {
    if (!signal.aborted) await discard(engine, name, signal);
    throw error;
  }
  await engine.removeContainer(id, { force: true, volumes: true }, signal);
  await engine.makeVolume({ Name: markOf(name), Labels }, signal);
}

function labelsOf({ key, revision }: Pick<Release, "key" | "revision">, copy: string) {
  return {
    [LABELS.manager]: MANAGER,
    [LABELS.deployment]: key.name,
    [LABELS.source]: revision.source.kind,
    [LABELS.sourceName]: revision.source.name,
    [LABELS.files]: copy,
  };
}

/** The real path of a file of the tree. Throws `path_escapes` for one that leads out. */
async function originalOf(files: Files, tree: string, path: string): Promise<string> {
  const { real, inside } = await new RealTree(files, tree).at(path);
  if (real === undefined) {
    throw errors.source_invalid(`${path} is not in the repository any more`);
  }
  if (inside === undefined) {
    throw errors.path_escapes(`${path} leads out of the repository`);
  }
  return real;
}

/** The image on the engine of a service that mounts the volume. Throws `deploy_failed`. */
async function imageFor(
  engine: Engine,
  { release, services, images = {} }: FilesToPlace,
  volume: string,
  signal: AbortSignal,
) {
  const model = withPlainDollars(release.model);
  const users = services.filter((each) =>
    objectsAt(objectAt(servicesOf(model), each), "volumes").some((mount) =>
      textAt(mount, "source") === volume
    )
  );
  for (const user of users) {
    const named = release.services.find(({ name }) => name === user)?.image ?? "";
    for (const Image of [named, own(images, user) ?? ""]) {
      if (Image === "" || await engine.imageId(Image, signal) === undefined) continue;
      return { Image, platform: textAt(serviceOf(model, user), "platform") };
    }
  }
  throw errors.deploy_failed(
    `files cannot be copied to the engine without the image of a service that mounts them, and ` +
      `there is none for ${fewOf(users)}; nothing that runs was touched`,
  );
}
