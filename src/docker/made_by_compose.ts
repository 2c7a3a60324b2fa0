import {
  BEHAVIOUR_LABELS,
  COMPOSE_LABELS,
  type ObservedContainer,
  writtenLabel,
} from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import { engineInfo } from "./engine_info.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { imageCalls } from "./images.ts";

type Made = Pick<ObservedContainer, "imageId" | "labels">;

/** Images that are asked about for a list of all projects: persons may have made any number. */
const MOST_ASKED = 50;

/**
 * Those of a list of projects' containers, or of jobs', that compose, or what works like it, made: not what a person
 * runs of an image that was committed from such a container, or that has all these labels itself. That would be
 * removed with the project, or as one too many of its service. Where the image is gone, such as after a clean-up,
 * the label that names another one tells that.
 *
 * Asks for the images of those alone that do not have their image's id as a label, as what compose makes has. A list
 * of all projects has what the engine tells nothing of: it would keep all others from being told.
 */
export async function madeByCompose<T extends Made>(
  api: EngineApi,
  filter: LabelFilter,
  listed: readonly T[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  const isOfJobs = writtenLabel(filter, BEHAVIOUR_LABELS.jobEnabled) in filter;
  const isOfProjects = COMPOSE_LABELS.project in filter;
  // Hooks have no place, and are asked about by whoever looks for them.
  if (!isOfJobs && !isOfProjects || COMPOSE_LABELS.version in filter) return listed;
  const isOfAll = !isOfJobs && filter[COMPOSE_LABELS.project] === undefined;
  const asked = new Set(listed.filter(maySayOfImage).map(({ imageId }) => imageId));
  if (asked.size === 0) return listed;
  const { imageLabels } = imageCalls(api);
  const labelsOf = new Map<string, Readonly<Record<string, string>> | undefined>();
  for (const id of isOfAll ? [...asked].slice(0, MOST_ASKED) : asked) {
    try {
      labelsOf.set(id, await imageLabels(id, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (!isOfAll) throw error;
    }
  }
  // Containerd's store drops images without a name, and gives containers other ids than their images have.
  const isSure = ![...labelsOf.values()].includes(undefined) ||
    (await engineInfo(api, signal)).keepsUnnamed;
  const isPersons = (each: Made) => {
    const ofImage = labelsOf.get(each.imageId);
    return labelsOf.has(each.imageId) && (ofImage !== undefined || isSure) && maySayOfImage(each) &&
      areImages(each.labels, ofImage);
  };
  return listed.filter((each) => !isPersons(each));
}

/** Whether a container may have all its labels of compose from its image. */
function maySayOfImage({ imageId, labels }: Made): boolean {
  return imageId !== "" && labels[COMPOSE_LABELS.image] !== imageId && composeOf(labels).length > 0;
}

/** Whether all labels of compose that a container has are its image's, with these values; that may be gone. */
function areImages(
  labels: Readonly<Record<string, string>>,
  ofImage: Readonly<Record<string, string>> | undefined,
): boolean {
  if (ofImage === undefined) return labels[COMPOSE_LABELS.image] !== undefined;
  return composeOf(labels).every((name) => labels[name] === ofImage[name]);
}

/** Names of the labels of compose. */
function composeOf(labels: Readonly<Record<string, string>>): string[] {
  return Object.keys(labels).filter((name) => name.startsWith(PREFIX));
}

const PREFIX = "com.docker.compose.";
