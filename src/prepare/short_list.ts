import { listedLengths, tooLongList, volumesFrom } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import { errors, type Release, type ReleaseService } from "../model/mod.ts";

/** Containers of one service that are about to be made. */
interface Made extends Pick<ReleaseService, "name" | "image"> {
  readonly expectation: Pick<ReleaseService["expectation"], "replicas">;
}

/** Answers of {@link Engine.imageListed} for the images on an engine, by the names services give them. */
type PresentImages = ReadonlyMap<string, number>;

/** The images of services that are on an engine; each is asked about once. */
export async function presentImages(
  engine: Pick<Engine, "imageListed">,
  services: readonly Pick<ReleaseService, "image">[],
  signal: AbortSignal,
): Promise<PresentImages> {
  const present = new Map<string, number>();
  for (const image of new Set(services.map((each) => each.image))) {
    const listed = image === "" ? undefined : await engine.imageListed(image, signal);
    if (listed !== undefined) present.set(image, listed);
  }
  return present;
}

/** Characters for the containers of one deployment that are listed without looking at those of others. */
const UNASKED = 64 << 10;
/**
 * Bytes of the list of all containers of an engine beyond which nobody adds more than that: what is
 * read of an answer is 64 MiB, and several deployments are prepared at once.
 */
const MOST_OF_ALL = 24 << 20;

/**
 * Makes sure that the engine's list of all containers stays short enough to be read with the
 * containers about to be made: whoever made their images chose a part of what it tells of them. Only
 * images that are not `known` are asked about: those that were brought just now.
 *
 * Throws `unsupported`, and `engine_refused` for an image that the engine tells too much of.
 */
export async function requireShortList(
  engine: Pick<Engine, "imageListed" | "listedBytes" | "inspectContainer">,
  release: Pick<Release, "key" | "model"> & { readonly services: readonly Made[] },
  { services, known }: { readonly services: readonly Made[]; readonly known: PresentImages },
  signal: AbortSignal,
): Promise<void> {
  const { key: { name }, model } = release;
  const listedBy = once(
    async (image) => image === "" ? 0 : await engine.imageListed(image, signal) ?? 0,
    known,
  );
  // Twice what we know of its mounts: a list may tell as much.
  const mountedBy = once(async (container) => {
    const details = await engine.inspectContainer(container, signal);
    return 2 * JSON.stringify(details?.mounts ?? []).length;
  });
  const [lengths, others] = [listedLengths(model), volumesFrom(model)];
  const byContainers = once(async (service) => {
    let sum = 0;
    for (const each of others.get(service)?.containers ?? []) sum += await mountedBy(each);
    return sum;
  });
  const imageOf = new Map(release.services.map((each) => [each.name, each.image]));
  let length = 0;
  for (const { name, image, expectation: { replicas } } of services) {
    let each = (lengths.get(name) ?? 0) + await listedBy(image) + await byContainers(name);
    // What it mounts because another one does is listed like its own.
    for (const other of others.get(name)?.services ?? []) {
      each += await listedBy(imageOf.get(other) ?? "") + await byContainers(other);
    }
    length += replicas * each;
  }
  const reason = tooLongList(length) ?? await tooLongWith(engine, length, signal);
  if (reason === undefined) return;
  throw errors.unsupported(`deployment ${name}: with its images, ${reason}. Nothing was changed`);
}

/** Asks for each name once, and for none that is known. */
function once(
  ask: (name: string) => Promise<number>,
  known: ReadonlyMap<string, number> = new Map(),
): (name: string) => Promise<number> {
  const answers = new Map(known);
  return async (name) => {
    const answer = answers.get(name) ?? await ask(name);
    answers.set(name, answer);
    return answer;
  };
}

async function tooLongWith(
  engine: Pick<Engine, "listedBytes">,
  length: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (length <= UNASKED) return undefined;
  const others = await engine.listedBytes(signal);
  if (others + length <= MOST_OF_ALL) return undefined;
  return `an engine would list its containers with ${length} characters (labels, commands, mounts, ` +
    `ports), and lists those that are there with ${others}: the most of all is ${MOST_OF_ALL}, so ` +
    `that the list can be read; up to ${UNASKED} are taken all the same`;
}
