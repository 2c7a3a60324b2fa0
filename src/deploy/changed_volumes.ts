import type { ResourceSummary } from "../docker/engine.ts";
import { type ComposeModel, errors, fewOf } from "../model/mod.ts";
import { type JsonObject, objectAt, textAt } from "../compose/mod.ts";
import { plainResourcesOf } from "./engine/plain_dollars.ts";

/**
 * Refuses a model that defines a volume differently from the existing one of that name. Docker
 * cannot change a volume, and compose, depending on its version, keeps the old one or asks a person
 * whether its data may be discarded: neither is what the commit says.
 *
 * `existing` are the project's volumes. Throws `conflict`, which names options without their
 * values, because options may hold passwords.
 */
export function requireSameVolumes(
  model: ComposeModel,
  existing: readonly ResourceSummary[],
): void {
  const byName = new Map(existing.map((each) => [each.name, each]));
  for (const { key, name, external, definition } of plainResourcesOf(model, "volumes")) {
    const volume = external ? undefined : byName.get(name);
    const changed = volume === undefined ? [] : differences(definition, volume);
    if (volume === undefined || changed.length === 0) continue;
    throw errors.conflict(
      `volumes.${key}: volume ${volume.name} exists with another ${fewOf(changed)}, ` +
        `and Docker cannot change a volume, so nothing was touched; give the changed volume another name, ` +
        `or save its data, stop what uses it and remove it (docker volume rm ${volume.name})`,
    );
  }
}

/** The keys of the definition that differ from the volume. */
function differences(wanted: JsonObject, volume: ResourceSummary): string[] {
  const driver = (textAt(wanted, "driver") || "local") === volume.driver ? [] : ["driver"];
  const options = objectAt(wanted, "driver_opts");
  const made = volume.options ?? {};
  const names = [...new Set([...Object.keys(options), ...Object.keys(made)])].sort();
  const changed = names.filter((name) => textOf(options[name]) !== made[name]);
  return [...driver, ...changed.map((name) => `driver_opts.${name}`)];
}

function textOf(option: unknown): string | undefined {
  return option === undefined || option === null ? undefined : String(option);
}
