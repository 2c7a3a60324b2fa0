import { COMPOSE_LABELS, type ObservedContainer } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { imageCalls } from "./images.ts";

type Made = Pick<ObservedContainer, "imageId" | "labels">;

/**
 * Those of a list of a project's containers that compose, or what works like it, made: not what a person runs of an
 * image that was committed from such a container, or that has all these labels itself. That would be
 * removed with the project, or as one too many of its service.
 *
 * Asks for the images of those alone that do not have their image's id as a label, as what compose makes has.
 */
export async function madeByCompose<T extends Made>(
  api: EngineApi,
  filter: LabelFilter,
  listed: readonly T[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  // Hooks have no place, and are asked about by whoever looks for them.
  if (filter[COMPOSE_LABELS.project] === undefined || COMPOSE_LABELS.version in filter) {
    return listed;
  }
  const asked = new Set(listed.filter(maySayOfImage).map(({ imageId }) => imageId));
  if (asked.size === 0) return listed;
  const { imageLabels } = imageCalls(api);
  const labelsOf = new Map<string, Readonly<Record<string, string>>>();
  for (const id of asked) labelsOf.set(id, await imageLabels(id, signal) ?? {});
  return listed.filter(({ imageId, labels }) => !areImages(labels, labelsOf.get(imageId) ?? {}));
}

/** Whether a container may have all its labels of compose from its image. */
function maySayOfImage({ imageId, labels }: Made): boolean {
  return imageId !== "" && labels[COMPOSE_LABELS.image] !== imageId;
}

/** Whether all labels of compose that a container has are its image's, with these values. */
function areImages(
  labels: Readonly<Record<string, string>>,
  ofImage: Readonly<Record<string, string>>,
): boolean {
  const own = Object.keys(labels).filter((name) => name.startsWith(PREFIX));
  return own.length > 0 && own.every((name) => labels[name] === ofImage[name]);
}

const PREFIX = "com.docker.compose.";
