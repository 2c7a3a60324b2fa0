import { objectsAt, serviceOf, textAt } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import { COMPOSE_LABELS, errors, LABELS, type Release, type ReleaseService } from "../model/mod.ts";

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
 * a service's container, or a run of a job. Asks about images that are on the engine.
 *
 * Throws `unsupported`.
 */
export async function requirePlainHooks(
  engine: Pick<Engine, "imageLabels">,
  { key, model }: Pick<Release, "key" | "model">,
  services: readonly Pick<ReleaseService, "name" | "image">[],
  signal: AbortSignal,
): Promise<void> {
  const hooks = services.flatMap(({ name, image }) =>
    objectsAt(serviceOf(model, name), "pre_start")
      .map((hook) => [textAt(hook, "image") || image, name] as const)
  );
  for (const [image, name] of new Map(hooks)) {
    const labels = Object.keys(await engine.imageLabels(image, signal) ?? {});
    const telling = labels.find(isTelling);
    if (telling === undefined) continue;
    throw errors.unsupported(
      `deployment ${key.name}: image ${image} of a pre_start hook of service ${name} has the label ` +
        `${telling}, by which Stackwright tells what a container is; use an image without it. ` +
        "Nothing was changed",
    );
  }
}

function isTelling(label: string): boolean {
  return !BY_COMPOSE.has(label) &&
    (TELLING.has(label) || OF_SWARM.some((prefix) => label.startsWith(prefix)));
}
