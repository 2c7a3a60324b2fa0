import { hasPlace } from "../docker/observed_container.ts";
import type { Engine } from "../docker/engine.ts";
import {
  beyondThings,
  COMPOSE_LABELS,
  errors,
  isKeptName,
  type ObservedContainer,
  type StackKey,
} from "../model/mod.ts";

/**
 * The containers that compose surely made for hooks (`pre_start`) of a stack's services, and left behind
 * where it was cut off. They have the labels of project, service and compose's version, but no number, as
 * has whatever a person runs of an image that compose built for the project, or that says so of itself:
 * one whose image names a project, or is not there to be asked, is told of only if it was made by a name that
 * Stackwright alone uses ({@link requirePlainHooks}), since it is removed with its anonymous volumes. Throws
 * `engine_refused` for more than may be looked at.
 */
export async function leftHooks(
  engine: Pick<Engine, "containerRecipe" | "imageLabels" | "listContainers">,
  { name }: StackKey,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const labels = { [COMPOSE_LABELS.project]: name, [COMPOSE_LABELS.version]: undefined };
  const found = (await engine.listContainers(labels, signal)).filter((each) => !hasPlace(each));
  const all = { kind: "container", label: COMPOSE_LABELS.project, count: found.length } as const;
  const beyond = beyondThings(name, all);
  if (beyond !== undefined) throw errors.engine_refused(beyond);
  const hooks: ObservedContainer[] = [];
  for (const [imageId, made] of Map.groupBy(found, (each) => each.imageId)) {
    const ofImage = imageId === "" ? undefined : await engine.imageLabels(imageId, signal);
    const isPlain = ofImage !== undefined && ofImage[COMPOSE_LABELS.project] === undefined;
    for (const each of made) {
      if (isPlain || await isByKeptName(engine, each, signal)) hooks.push(each);
    }
  }
  return hooks;
}

async function isByKeptName(
  engine: Pick<Engine, "containerRecipe">,
  { id }: ObservedContainer,
  signal: AbortSignal,
): Promise<boolean> {
  const recipe = await engine.containerRecipe(id, signal);
  const image = recipe?.body["Image"];
  return typeof image === "string" && isKeptName(image);
}
