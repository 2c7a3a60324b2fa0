import {
  BEHAVIOUR_LABELS,
  COMPOSE_LABELS,
  type ObservedContainer,
  writtenLabel,
} from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { imageCalls } from "./images.ts";

type Made = Pick<ObservedContainer, "imageId" | "labels">;

/**
 * Those of a list of a project's containers, or of jobs', that compose, or what works like it, made: not what a person
 * runs of an image that was committed from such a container, or that has all these labels itself. That would be
 * removed with the project, or as one too many of its service.
 *
 * Lists of what everybody has are left as they are: an image that cannot be read would keep all from being told.
 *
 * Asks for the images of those alone that do not have their image's id as a label, as what compose makes has.
 */
export async function madeByCompose<T extends Made>(
  api: EngineApi,
  filter: LabelFilter,
  listed: readonly T[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  const isOfJobs = writtenLabel(filter, BEHAVIOUR_LABELS.jobEnabled) in filter;
  const isOfProject = filter[COMPOSE_LABELS.project] !== undefined;
  // Hooks have no place, and are asked about by whoever looks for them.
  if (!isOfJobs && !isOfProject || COMPOSE_LABELS.version in filter) return listed;
  const asked = new Set(listed.filter(maySayOfImage).map(({ imageId }) => imageId));
  if (asked.size === 0) return listed;
  const { imageLabels } = imageCalls(api);
  const labelsOf = new Map<string, Readonly<Record<string, string>>>();
  for (const id of asked) labelsOf.set(id, await imageLabels(id, signal) ?? {});
  return listed.filter(({ imageId, labels }) => !areImages(labels, labelsOf.get(imageId) ?? {}));
}

/** Whether a container may have all its labels of compose from its image. */
function maySayOfImage({ imageId, labels }: Made): boolean {
  return imageId !== "" && labels[COMPOSE_LABELS.image] !== imageId && composeOf(labels).length > 0;
}

/** Whether all labels of compose that a container has are its image's, with these values. */
function areImages(
  labels: Readonly<Record<string, string>>,
  ofImage: Readonly<Record<string, string>>,
): boolean {
  const own = composeOf(labels);
  return own.length > 0 && own.every((name) => labels[name] === ofImage[name]);
}

/** Names of the labels of compose. */
function composeOf(labels: Readonly<Record<string, string>>): string[] {
  return Object.keys(labels).filter((name) => name.startsWith(PREFIX));
}

const PREFIX = "com.docker.compose.";
