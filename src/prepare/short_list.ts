import {
  labelsLength,
  listedLengths,
  servicesOf,
  tooLongLabels,
  tooLongList,
  volumesFrom,
} from "../compose/mod.ts";
import type { Engine, ImageListed } from "../docker/engine.ts";
import { errors, type Release, type ReleaseService } from "../model/mod.ts";

/** Service whose containers are about to be made. */
interface Made extends Pick<ReleaseService, "name" | "image"> {
  readonly expectation: Pick<ReleaseService["expectation"], "replicas">;
}

/** Results of {@link Engine.imageListed} by name or id, for existing images. */
export type PresentImages = ReadonlyMap<string, ImageListed>;

/** The existing images of services; each is looked up once. */
export async function presentImages(
  engine: Pick<Engine, "imageListed">,
  services: readonly Pick<ReleaseService, "image">[],
  signal: AbortSignal,
): Promise<PresentImages> {
  const present = new Map<string, ImageListed>();
  for (const image of new Set(services.map((each) => each.image))) {
    const listed = image === "" ? undefined : await engine.imageListed(image, signal);
    if (listed !== undefined) present.set(image, listed);
  }
  return present;
}

/**
 * Ensures that new containers are short in the engine's list of all containers, and so are the events of
 * each: the authors of images decide about a part of them.
 * Looks only at images that are not `known`, because they were just pulled or built.
 *
 * Throws `unsupported`, and `engine_refused` for an image whose details are too long to read.
 */
export async function requireShortList(
  engine: Pick<Engine, "imageListed" | "inspectContainer">,
  release: Pick<Release, "key" | "model"> & { readonly services: readonly Made[] },
  { services, known }: { readonly services: readonly Made[]; readonly known: PresentImages },
  signal: AbortSignal,
): Promise<void> {
  const { key: { name }, model } = release;
  const listedBy = once(
    async (image) => image === "" ? NO_IMAGE : await engine.imageListed(image, signal) ?? NO_IMAGE,
    known,
  );
  // Twice the length of the known mounts, as an upper bound for the list.
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
  const defined = servicesOf(model);
  let length = 0;
  let tooLong: string | undefined;
  for (const { name, image, expectation: { replicas } } of services) {
    const { labels, all } = await listedBy(image);
    tooLong ??= tooLongLabels(name, labels + labelsLength(defined[name] ?? {}));
    let each = (lengths.get(name) ?? 0) + all + await byContainers(name);
    // Mounts inherited from another container are listed like its own.
    for (const other of others.get(name)?.services ?? []) {
      each += (await listedBy(imageOf.get(other) ?? "")).all + await byContainers(other);
    }
    length += replicas * each;
  }
  const reason = tooLong ?? tooLongList(length);
  if (reason === undefined) return;
  throw errors.unsupported(`deployment ${name}: with its images, ${reason}. Nothing was changed`);
}

/** What an image adds to the list that is not there, or not yet. */
export const NO_IMAGE: ImageListed = { id: "", labels: 0, all: 0 };

/** A function that asks once for each name, except for `known` ones. */
function once<Answer>(
  ask: (name: string) => Promise<Answer>,
  known: ReadonlyMap<string, Answer> = new Map(),
): (name: string) => Promise<Answer> {
  const answers = new Map(known);
  return async (name) => {
    const answer = answers.get(name) ?? await ask(name);
    answers.set(name, answer);
    return answer;
  };
}
