import type { ComposeModel } from "../model/mod.ts";
import {
  isObject,
  type JsonObject,
  mapServices,
  objectAt,
  objectsAt,
  serviceOf,
  servicesOf,
  textAt,
} from "./model.ts";
import { printedInside } from "./tree_paths.ts";

/** Key of a model for its volumes with copies; compose ignores `x-` keys. */
const COPIES = "x-stackwright-files";

/** Name of a copied file in its volume; a copied directory is the volume itself. */
export const COPIED_FILE = "file";

/** A volume with a copy of a file or directory of the repository. */
export interface FilesVolume {
  /** Its name on the engine, derived from the content. */
  readonly name: string;
  /** Path of the original in the tree. */
  readonly path: string;
}

/** A copy to mount. */
export interface Copy {
  readonly name: string;
  readonly isDirectory: boolean;
}

/**
 * The model with volumes of copies in place of the tree's files, in bind mounts and in configs and
 * secrets with `file`. The volumes must exist before the model is applied.
 */
export function withFilesVolumes(
  model: ComposeModel,
  tree: string,
  copyOf: (path: string) => Copy,
): ComposeModel {
  const copies = new Map<string, string>();
  const mountOf = (path: string, target: string) => {
    const { name, isDirectory } = copyOf(path);
    copies.set(name, path);
    const volume = { nocopy: true, ...(isDirectory ? {} : { subpath: COPIED_FILE }) };
    return { type: "volume", source: name, target, read_only: true, volume };
  };
  const mounted = mapServices(model, (service) => withMounts(service, model, tree, mountOf));
  const external = Object.fromEntries(
    [...copies.keys()].sort().map((name) => [name, { name, external: true }]),
  );
  const { [COPIES]: _forged, ...rest } = mounted;
  if (copies.size === 0) return rest;
  return {
    ...rest,
    volumes: { ...objectAt(model, "volumes"), ...external },
    [COPIES]: Object.fromEntries([...copies].sort()),
  };
}

/** The volumes with copies that services of a model mount, by name. */
export function filesVolumes(
  model: ComposeModel,
  services: Iterable<string> = Object.keys(servicesOf(model)),
): FilesVolume[] {
  const copies = objectAt(model, COPIES);
  const mounted = new Set(
    [...services].flatMap((each) => objectsAt(serviceOf(model, each), "volumes"))
      .map((each) => textAt(each, "source")),
  );
  return Object.keys(copies).filter((name) => mounted.has(name)).sort()
    .map((name) => ({ name, path: textAt(copies, name) }));
}

/** Absolute path in the container for a config or secret of a service. */
export function placeOfFile(kind: "configs" | "secrets", use: JsonObject): string {
  const target = textAt(use, "target") || textAt(use, "source");
  if (target.startsWith("/")) return target;
  return (kind === "secrets" ? "/run/secrets/" : "/") + target;
}

function withMounts(
  service: JsonObject,
  model: ComposeModel,
  tree: string,
  mountOf: (path: string, target: string) => JsonObject,
): JsonObject {
  const volumes = objectsAt(service, "volumes").map((volume) => {
    if (volume["type"] !== "bind") return volume;
    const path = printedInside(textAt(volume, "source"), tree);
    return path === undefined ? volume : mountOf(path, textAt(volume, "target"));
  });
  const targets = new Set(volumes.map((each) => textAt(each, "target")));
  const lists: Record<string, unknown> = {};
  for (const kind of ["secrets", "configs"] as const) {
    if (!Array.isArray(service[kind])) continue;
    lists[kind] = service[kind].filter((use: unknown) => {
      if (!isObject(use)) return true;
      const resource = objectAt(objectAt(model, kind), textAt(use, "source"));
      const path = printedInside(textAt(resource, "file"), tree);
      if (path === undefined) return true;
      const target = placeOfFile(kind, use);
      // A volume at the same path was declared on purpose, so it wins.
      if (!targets.has(target)) volumes.push(mountOf(path, target));
      targets.add(target);
      return false;
    });
  }
  return volumes.length === 0 ? service : { ...service, ...lists, volumes };
}
