import { fitsTemplate, type Resource } from "../compose/mod.ts";
import type { Engine, ResourceSummary } from "../docker/engine.ts";
import { errors } from "../model/mod.ts";

/** Limit of names with templates, each of which is compared with all volumes of the engine. */
const MOST_TEMPLATES = 50;

/** A volume of a model, with the existing ones that it is. */
export type VolumeThere = Pick<Resource, "key" | "name"> & {
  /** Whether a swarm makes the name, which may become that of each of {@link fits}. */
  readonly isTemplate: boolean;
  readonly fits: readonly ResourceSummary[];
};

/**
 * Finds the existing volumes that `volumes` of a model are. With `isStack`, names may have templates,
 * which stand for all volumes of this node that fit them.
 *
 * Throws `unsupported` for too many names with templates, and what the engine throws.
 */
export async function volumesThere(
  engine: Pick<Engine, "everyVolume" | "findVolumes">,
  volumes: readonly Pick<Resource, "key" | "name">[],
  isStack: boolean,
  signal: AbortSignal,
): Promise<VolumeThere[]> {
  const isTemplate = (name: string) => isStack && name.includes("{{");
  const templates = volumes.filter(({ name }) => isTemplate(name)).length;
  if (templates > MOST_TEMPLATES) {
    throw errors.unsupported(
      `more than ${MOST_TEMPLATES} volumes with templates in their names are not supported`,
    );
  }
  if (volumes.length === 0) return [];
  const names = new Set(volumes.map(({ name }) => name));
  const written = [...names].filter(isTemplate);
  const isWanted = (name: string) =>
    names.has(name) || written.some((each) => fitsTemplate(each, name));
  const existing = templates > 0
    ? await engine.everyVolume(isWanted, signal)
    : await engine.findVolumes(volumes.map(({ name }) => name), signal);
  const byName = new Map(existing.map((each) => [each.name, [each]]));
  return volumes.map(({ key, name }) => ({
    key,
    name,
    isTemplate: isTemplate(name),
    fits: isTemplate(name)
      ? existing.filter((each) => fitsTemplate(name, each.name))
      : byName.get(name) ?? [],
  }));
}
