import { listedLength, servicesOf, tooLongList } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import { type Release, type ReleaseService, StackwrightError } from "../model/mod.ts";

/** Containers of one service that are about to be made. */
interface Made extends Pick<ReleaseService, "name" | "image"> {
  readonly expectation: Pick<ReleaseService["expectation"], "replicas">;
}

/** Answers of {@link Engine.imageListed} for the images on an engine, by the names services give them. */
export type PresentImages = ReadonlyMap<string, number>;

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
  engine: Pick<Engine, "imageListed" | "listedBytes">,
  { key: { name }, model }: Pick<Release, "key" | "model">,
  { services, known }: { readonly services: readonly Made[]; readonly known: PresentImages },
  signal: AbortSignal,
): Promise<void> {
  const replicasOf = (made: readonly Made[]) =>
    made.reduce((sum, { expectation }) => sum + expectation.replicas, 0);
  let length = services.reduce(
    (sum, each) => sum + replicasOf([each]) * listedLength(servicesOf(model)[each.name] ?? {}),
    0,
  );
  for (const [image, users] of Map.groupBy(services, (each) => each.image)) {
    if (image === "") continue;
    const listed = known.get(image) ?? await engine.imageListed(image, signal) ?? 0;
    length += replicasOf(users) * listed;
  }
  const reason = tooLongList(length) ?? await tooLongWith(engine, length, signal);
  if (reason === undefined) return;
  const message = `deployment ${name}: with its images, ${reason}. Nothing was changed`;
  throw new StackwrightError("unsupported", message);
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
