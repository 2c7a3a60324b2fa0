import { join } from "node:path/posix";
import type { ComposeModel } from "../model/mod.ts";
import {
  isObject,
  type JsonObject,
  mapMounts,
  mapServices,
  objectAt,
  servicesOf,
  textAt,
  textsOf,
} from "./model.ts";
import { asPrinted, printedInside } from "./tree_paths.ts";

/** The paths of a rendered model after rewriting, all with plain dollars. */
interface StablePaths {
  /** Directory the model was rendered against. */
  readonly tree: string;
  /** Directory of the stack as seen by the engine's host; contains `current` and `live`. */
  readonly stackDirectory: string;
  /** The path below that directory from which a path of the tree is served. */
  placeOf(path: string): string;
}

/**
 * Replaces every path into the tree by one that is the same in every release: `current/…` for paths
 * that containers read, `live/…` for paths that they may write. A container's mounts then never
 * change with the commit, and compose sees no difference.
 *
 * Removes what is no part of a service's identity: replicas (`--scale` has them), and `develop`.
 */
export function rewriteModel(model: ComposeModel, paths: StablePaths): ComposeModel {
  return {
    ...mapServices(
      model,
      (service) => withoutReplicas(rewriteBuild(rewriteBinds(service, paths), paths)),
    ),
    ...rewriteFiles(model, "configs", paths),
    ...rewriteFiles(model, "secrets", paths),
    ...rewriteVolumes(model, paths),
  };
}

/** The model with the build paths of `original`, for builds, which read them on this machine. */
export function withBuildPaths(model: ComposeModel, original: ComposeModel): ComposeModel {
  const originals = servicesOf(original);
  const built = mapServices(model, (service, name) => {
    const build = originals[name]?.["build"];
    return build === undefined ? service : { ...service, build };
  });
  const secrets = original["secrets"];
  return secrets === undefined ? built : { ...built, secrets };
}

/** The model with `args` as arguments of every build, which win over its own. */
export function withBuildArguments(
  model: ComposeModel,
  args: Readonly<Record<string, string>>,
): ComposeModel {
  const added = Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, asPrinted(value)]),
  );
  return mapArguments(model, (own) => ({ ...own, ...added }));
}

/** Build argument of BuildKit for the caches of `RUN --mount=type=cache`: it goes before their ids. */
const CACHE_NAMESPACE = "BUILDKIT_CACHE_MOUNT_NS";

/**
 * The model with caches of its own for every build: `nameOf` makes the name before their ids, from the
 * one that the build gives itself; empty without one.
 */
export function withOwnCaches(model: ComposeModel, nameOf: (own: string) => string): ComposeModel {
  return mapArguments(model, (own) => {
    return { ...own, [CACHE_NAMESPACE]: nameOf(String(own[CACHE_NAMESPACE] ?? "")) };
  });
}

/** The model with one more name for what is built of each service that `tagOf` has one for. */
export function withBuildTags(
  model: ComposeModel,
  tagOf: (service: string) => string | undefined,
): ComposeModel {
  return mapBuilds(model, (build, name) => {
    const tag = tagOf(name);
    return tag === undefined ? build : { ...build, tags: [...textsOf(build["tags"]), tag] };
  });
}

/** A model with other arguments for each of its builds. */
function mapArguments(model: ComposeModel, change: (own: JsonObject) => JsonObject): ComposeModel {
  return mapBuilds(model, (build) => ({ ...build, args: change(argumentsOf(build)) }));
}

function mapBuilds(
  model: ComposeModel,
  change: (build: JsonObject, service: string) => JsonObject,
): ComposeModel {
  return mapServices(model, (service, name) => {
    const build = service["build"];
    return isObject(build) ? { ...service, build: change(build, name) } : service;
  });
}

/** Build arguments as a map, as compose prints them; authors may write a list. */
function argumentsOf(build: JsonObject): JsonObject {
  const args = build["args"];
  if (!Array.isArray(args)) return objectAt(build, "args");
  return Object.fromEntries(
    args.map((each) => {
      const [, name = "", value] = /^([^=]*)(?:=([^]*))?$/.exec(String(each)) ?? [];
      return [name, value ?? null];
    }),
  );
}

/** A path below the stack's directory, as it stands in a rendered model. */
function stable({ stackDirectory }: StablePaths, place: string): string {
  return asPrinted(join(stackDirectory, place));
}

function rewriteBinds(service: JsonObject, paths: StablePaths): JsonObject {
  return mapMounts(service, (mount) => {
    const path = mount["type"] === "bind"
      ? printedInside(textAt(mount, "source"), paths.tree)
      : undefined;
    if (path === undefined) return mount;
    return { ...mount, source: stable(paths, paths.placeOf(path)) };
  });
}

function rewriteFiles(
  model: ComposeModel,
  kind: "configs" | "secrets",
  paths: StablePaths,
): { readonly [key: string]: unknown } {
  if (!isObject(model[kind])) return {};
  const rewritten = Object.entries(objectAt(model, kind)).map(([name, resource]) => {
    const path = isObject(resource)
      ? printedInside(textAt(resource, "file"), paths.tree)
      : undefined;
    if (!isObject(resource) || path === undefined) return [name, resource];
    return [name, { ...resource, file: stable(paths, paths.placeOf(path)) }];
  });
  return { [kind]: Object.fromEntries(rewritten) };
}

/**
 * Named volumes may stand for a path of the host, which compose makes absolute, too. They are served
 * from `live`, also if no service uses them: whoever knows a volume's name may write to it.
 */
function rewriteVolumes(
  model: ComposeModel,
  paths: StablePaths,
): { readonly [key: string]: unknown } {
  if (!isObject(model["volumes"])) return {};
  const rewritten = Object.entries(model["volumes"]).map(([name, volume]) => {
    const options = isObject(volume) ? objectAt(volume, "driver_opts") : {};
    const path = printedInside(textAt(options, "device"), paths.tree);
    if (!isObject(volume) || path === undefined) return [name, volume];
    const place = paths.placeOf(path);
    const live = place.startsWith("live/") ? place : join("live", path);
    return [name, { ...volume, driver_opts: { ...options, device: stable(paths, live) } }];
  });
  return { volumes: Object.fromEntries(rewritten) };
}

function rewriteBuild(service: JsonObject, paths: StablePaths): JsonObject {
  const build = service["build"];
  if (!isObject(build)) return service;
  const current = (value: unknown): unknown => {
    const path = typeof value === "string" ? printedInside(value, paths.tree) : undefined;
    return path === undefined ? value : stable(paths, join("current", path));
  };
  const additional = Object.entries(objectAt(build, "additional_contexts"))
    .map(([name, context]) => [name, current(context)]);
  return {
    ...service,
    build: {
      ...build,
      ...(build["context"] === undefined ? {} : { context: current(build["context"]) }),
      ...(build["dockerfile"] === undefined ? {} : { dockerfile: current(build["dockerfile"]) }),
      ...(additional.length === 0 ? {} : { additional_contexts: Object.fromEntries(additional) }),
    },
  };
}

function withoutReplicas(service: JsonObject): JsonObject {
  const { develop: _develop, scale: _scale, deploy, ...rest } = service;
  if (!isObject(deploy)) return rest;
  const { replicas: _replicas, ...others } = deploy;
  // Compose prints empty groups beside replicas, which have no meaning of their own.
  const speaks = Object.values(others).some((value) =>
    isObject(value) ? Object.keys(value).length > 0 : value !== undefined && value !== null
  );
  return speaks ? { ...rest, deploy: others } : rest;
}
