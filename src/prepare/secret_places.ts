import { isAbsolute, join, posix } from "node:path";
import { objectsAt, resourcesOf, servicesOf, textAt } from "../compose/mod.ts";
import type { ComposeModel } from "../model/mod.ts";

/** The usual place of secrets in containers. */
const PLACE = "/run/secrets";

/** Where the secrets of a model are that are secret as a whole. */
interface SecretPlaces {
  /** Absolute paths of files and directories, missing ones among them. */
  readonly paths: readonly string[];
  /** The texts that a model itself has for files. */
  readonly texts: readonly string[];
}

/**
 * Files of `secrets:`, and what a model puts at or below the usual place of secrets in containers: files and
 * directories that are mounted there, or around it, and configs. `values` are those of the variables that
 * configs name.
 */
export function secretPlaces(
  model: ComposeModel,
  values: Readonly<Record<string, string>> = {},
): SecretPlaces {
  const services = Object.values(servicesOf(model));
  const mounted = services.flatMap((service) => objectsAt(service, "volumes"))
    .filter((volume) => volume["type"] === "bind")
    .flatMap((volume) => partAtPlace(textAt(volume, "source"), textAt(volume, "target")));
  const placed = new Set(
    services.flatMap((service) => objectsAt(service, "configs"))
      .filter((config) => partAtPlace("/", textAt(config, "target")).length > 0)
      .map((config) => textAt(config, "source")),
  );
  const configs = resourcesOf(model, "configs").filter(({ key }) => placed.has(key));
  const files = [...resourcesOf(model, "secrets"), ...configs]
    .map(({ definition }) => textAt(definition, "file"));
  const texts = configs.flatMap(({ definition }) => [
    textAt(definition, "content"),
    values[textAt(definition, "environment")] ?? "",
  ]);
  return { paths: [...new Set([...files, ...mounted])].filter(isAbsolute), texts };
}

/** The part of what is mounted at `target` that containers see at or below {@link PLACE}; none if it is elsewhere. */
function partAtPlace(source: string, target: string): string[] {
  const at = posix.join("/", target).replace(/(?<=.)\/$/, "");
  if (at === PLACE || at.startsWith(`${PLACE}/`)) return [source];
  return PLACE.startsWith(`${at}/`) ? [join(source, posix.relative(at, PLACE))] : [];
}
