import { hasPlace } from "../docker/observed_container.ts";
import type { Engine } from "../docker/engine.ts";
import {
  beyondThings,
  COMPOSE_LABELS,
  errors,
  type ObservedContainer,
  type StackKey,
} from "../model/mod.ts";

/**
 * The containers that compose surely made for hooks (`pre_start`) of a stack's services, and left behind
 * where it was cut off. They have the labels of project, service and compose's version, but no number, as
 * has whatever a person runs of an image that compose built for the project, or that says so of itself:
 * one whose image names a project, or is not there to be asked, is not told of, since it is removed
 * with its anonymous volumes. Throws `engine_refused` for more than may be looked at.
 */
export async function leftHooks(
  engine: Pick<Engine, "imageLabels" | "listContainers">,
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
    if (ofImage !== undefined && ofImage[COMPOSE_LABELS.project] === undefined) hooks.push(...made);
  }
  return hooks;
}
