import {
  imageReference,
  type JsonObject,
  mapMounts,
  mapServices,
  objectsAt,
  serviceOf,
  textAt,
} from "../../compose/mod.ts";
import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  LABELS,
  nameOfImage,
  own,
  type Release,
  type ReleaseService,
} from "../../model/mod.ts";

const { project, service, version, ...others } = COMPOSE_LABELS;
/** Labels that compose gives to each container for a hook, over those of its image. */
const BY_COMPOSE: ReadonlySet<string> = new Set([project, service, version]);
/** Other labels that tell what a container is. */
const TELLING: ReadonlySet<string> = new Set([...Object.values(LABELS), ...Object.values(others)]);
/** Prefixes of labels that a swarm's containers have. */
const OF_SWARM = ["com.docker.swarm.", "com.docker.stack."];

/**
 * Refuses images of hooks (`pre_start`) with labels by which Stackwright tells what a container is:
 * compose gives a hook's container few labels, so it would have these from its image, and pass for
 * a service's container, or a run of a job. Asks about images that are on the engine, by their ids:
 * returns the model in which hooks have these, since another stack may move the names meanwhile. An image that
 * names a project, as all do that compose builds, has what `mark` returns: nothing else tells a hook that is
 * left of it from what a person runs of it.
 *
 * Throws `unsupported`, and with `mark` `pull_failed` for an image that is not there.
 */
export async function requirePlainHooks(
  engine: Pick<Engine, "imageId" | "imageLabels">,
  { key, model }: Pick<Release, "key" | "model">,
  services: readonly Pick<ReleaseService, "name" | "image">[],
  signal: AbortSignal,
  { mark, images = {} }: {
    /** Gives an image of hooks that run now a name of ours, and returns that. */
    readonly mark?: (id: string) => Promise<string>;
    /** Ids that are known by the names of `NamedImage`: these count, wherever names lead. */
    readonly images?: Readonly<Record<string, string>>;
  } = {},
): Promise<ComposeModel> {
  const judged = new Map<string, JsonObject>();
  for (const { name, image: ofService } of services) {
    const definition = serviceOf(model, name);
    const hooks: Record<string, unknown>[] = [];
    for (const hook of objectsAt(definition, "pre_start")) {
      const image = textAt(hook, "image") || ofService;
      const known = own(images, nameOfImage({ name, image: ofService }, image));
      const id = await engine.imageId(known ?? image, signal);
      if (mark !== undefined && id === undefined) throw missing({ key, name, image });
      const labels = id === undefined ? {} : await engine.imageLabels(id, signal);
      const telling = Object.keys(labels ?? {}).find(isTelling);
      if (telling !== undefined) throw telltale({ key, name, image, telling });
      const isMarked = id !== undefined && labels?.[COMPOSE_LABELS.project] !== undefined;
      const judgedAs = isMarked && mark !== undefined ? await mark(id) : id;
      hooks.push(judgedAs === undefined ? hook : { ...hook, image: judgedAs });
    }
    if (hooks.length > 0) judged.set(name, { ...definition, pre_start: hooks });
  }
  return mapServices(model, (service, name) => judged.get(name) ?? service);
}

/**
 * The model that mounts images by the ids that are known by the names of `NamedImage`: docker compose looks for
 * those of the names that it is given, which another stack may have moved.
 */
export function withKnownMounts(
  model: ComposeModel,
  images: Readonly<Record<string, string>>,
): ComposeModel {
  return mapServices(model, (service, name) => {
    const ofService = imageReference(model, name);
    return mapMounts(service, (mount) => {
      if (mount["type"] !== "image") return mount;
      const id = own(images, nameOfImage({ name, image: ofService }, textAt(mount, "source")));
      return id === undefined ? mount : { ...mount, source: id };
    });
  });
}

interface Telltale extends Pick<Release, "key"> {
  readonly name: string;
  readonly image: string;
  readonly telling: string;
}

/** The error for an image whose name another stack may give to one of its own, before compose asks. */
function missing({ key, name, image }: Omit<Telltale, "telling">) {
  return errors.pull_failed(
    `deployment ${key.name}: image ${image} of a pre_start hook of service ${name} is not on the ` +
      "engine, so the hook was not run: something removed the image meanwhile; deploy again",
  );
}

function telltale({ key, name, image, telling }: Telltale) {
  return errors.unsupported(
    `deployment ${key.name}: image ${image} of a pre_start hook of service ${name} has the label ` +
      `${telling}, by which Stackwright tells what a container is; use an image without it. ` +
      "No container was made of it",
  );
}

function isTelling(label: string): boolean {
  return !BY_COMPOSE.has(label) &&
    (TELLING.has(label) || OF_SWARM.some((prefix) => label.startsWith(prefix)));
}
