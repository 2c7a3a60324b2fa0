import { isAbsolute, relative, resolve } from "node:path/posix";
import { type ComposeModel, KEPT_NAMES, namesKept, sharedContainer } from "../model/mod.ts";
import {
  isObject,
  type JsonObject,
  objectAt,
  objectsAt,
  servicesOf,
  textAt,
  textsOf,
} from "./model.ts";
import { insideTree } from "./tree_paths.ts";
import { buildPaths } from "./build_paths.ts";
import { ASIDE, containerName } from "./built_names.ts";
import { CLIMBS_BACK, climbsBack, refusedTemplates, volumesOf } from "./volume_paths.ts";
import type { FollowedPath, FollowedPaths } from "./followed_path.ts";
import { notHandedOver } from "./handed_over.ts";
import { resourcesOf } from "./resources.ts";

/** The path in the model of the first external config or secret in use. */
export function externalObject(model: ComposeModel): string | undefined {
  for (const kind of ["configs", "secrets"] as const) {
    const used = usedOf(model, kind);
    for (const { key, external } of resourcesOf(model, kind)) {
      if (external && used.has(key)) return `${kind}.${key}`;
    }
  }
  return undefined;
}

/**
 * Every path of a rendered model that compose or buildx reads, or that the engine mounts. Paths
 * that compose and buildx read must lie in the tree; paths of the host are the author's choice,
 * unless they are ours. With `isStack`, Stackwright reads configs and secrets, since a swarm gets
 * their content, and templates in mounts are evaluated ({@link refusedTemplates}).
 */
export function followedPaths(
  model: ComposeModel,
  { isStack = false }: { readonly isStack?: boolean } = {},
): FollowedPaths {
  const paths: FollowedPath[] = [];
  const refused: string[] = [];
  const containers: { what: string; name: string }[] = [];
  const shared: { what: string; name: string }[] = [];
  const bridges = bridgesOf(model, refused);
  for (const [name, service] of Object.entries(servicesOf(model))) {
    const of = (what: string) => `service ${name}: ${what}`;
    const add = (by: FollowedPath["by"], what: string, path: string) => {
      if (path === "") return;
      if (!isAbsolute(path)) return void refused.push(of(`${what} ${NOT_ABSOLUTE}`));
      // The engine normalizes the paths of mounts before resolving them; compose and buildx do not.
      if (by === "us" && climbsBack(path)) refused.push(of(`${what} ${CLIMBS_BACK}`));
      paths.push({ what: of(what), path: resolve(path), by });
    };
    // Names of services appear on command lines, where this one would be an option of compose.
    if (name.startsWith("-")) refused.push(of("its name begins with a dash"));
    const container = containerName(model, name, 1);
    // Another stack's container may need it while it is replaced: ids are no secrets.
    if (!isStack && ASIDE.test(container)) {
      refused.push(of(`container name ${container}, as one has that is being replaced`));
    }
    for (const volume of objectsAt(service, "volumes")) {
      if (volume["type"] === "bind") add("engine", "volume", textAt(volume, "source"));
    }
    for (const each of textsOf(service["volumes_from"])) {
      const container = /^container:([^:]*)/.exec(each)?.[1];
      if (container !== undefined) containers.push({ what: of("volumes_from"), name: container });
    }
    for (const each of sharedBy(service, bridges)) {
      shared.push({ what: of(each.what), name: each.name });
    }
    refused.push(...readPaths(service, model, add).map(of));
  }
  refused.push(...notHandedOver(model));
  addFiles(model, { paths, refused, isStack });
  if (isStack) refused.push(...refusedTemplates(model));
  const volumes = volumesOf(model, paths, refused);
  refused.push(...refusedNames(model, volumes));
  for (const { what, path } of paths) {
    if (OF_A_PROCESS.test(path)) refused.push(`${what} ${THROUGH_PROCESS}`);
  }
  return { paths, refused, containers, shared, volumes };
}

/** Adds the files of configs and secrets. */
function addFiles(
  model: ComposeModel,
  { paths, refused, isStack }: {
    readonly paths: FollowedPath[];
    readonly refused: string[];
    readonly isStack: boolean;
  },
): void {
  for (const kind of ["configs", "secrets"] as const) {
    for (const { key, definition } of resourcesOf(model, kind)) {
      const file = textAt(definition, "file");
      if (file === "") continue;
      const by = isStack ? "us" : "engine";
      if (isAbsolute(file)) paths.push({ what: `${kind}.${key}`, path: resolve(file), by });
      else refused.push(`${kind}.${key} ${NOT_ABSOLUTE}`);
    }
  }
}

/** Why names of volumes are refused. */
function* refusedNames(model: ComposeModel, volumes: FollowedPaths["volumes"]) {
  for (const { what, name } of volumes) {
    // In the short notation of a mount, such a name would read as a path, or as its end.
    if (/^\/|:/.test(name)) yield `${what} with a name that is a path, or has a colon`;
  }
  for (const { key, name, external } of resourcesOf(model, "volumes")) {
    // Successors of a container take such a volume along, whether or not their model has it.
    if (!external && MADE_UP.test(name)) yield `volumes.${key} with a name as engines make them`;
  }
}

/** Keys of networks that are the engine's default bridge; adds refused networks to `refused`. */
function bridgesOf(model: ComposeModel, refused: string[]): ReadonlySet<string> {
  const bridges = new Set<string>();
  for (const { key, name } of resourcesOf(model, "networks")) {
    if (name === "bridge" || name === "default") bridges.add(key);
    // Older engines read such a name as the network of that container.
    if (!name.startsWith("container:")) continue;
    refused.push(`networks.${key} with a name that begins with container:`);
  }
  return bridges;
}

/** The containers whose namespaces or environment a service gets, with the key that says so. */
function* sharedBy(service: JsonObject, bridges: ReadonlySet<string>) {
  for (const key of ["ipc", "network_mode", "pid"]) {
    const container = sharedContainer(textAt(service, key));
    if (container !== undefined) yield { what: key, name: container };
  }
  // On the default bridge, a link reveals the whole environment of the other container.
  const networks = Object.keys(objectAt(service, "networks"));
  const onBridge = textAt(service, "network_mode") !== "" ||
    networks.some((key) => bridges.has(key));
  if (!onBridge) return;
  for (const link of textsOf(service["external_links"])) {
    yield { what: "external_links", name: link.replace(/:[^]*/, "") };
  }
}

/** Name of a volume that was made without one. */
export const MADE_UP: RegExp = /^[0-9a-f]{64}$/;

/** Compose leaves what is absolute on Windows (`c:/x`) as it is, and buildx climbs from there. */
const NOT_ABSOLUTE = "by a path that is not absolute here";

/** Adds the paths of a service that compose itself reads; returns refused ones. */
function readPaths(
  service: JsonObject,
  model: ComposeModel,
  add: (by: FollowedPath["by"], what: string, path: string) => void,
): string[] {
  const refused: string[] = [];
  for (const option of textsOf(service["security_opt"])) {
    // Compose itself reads the profile, relative to the project.
    const profile = /^seccomp[=:]([^]*)$/.exec(option)?.[1] ?? "";
    if (profile === "" || profile === "unconfined" || profile === "builtin") continue;
    if (isAbsolute(profile)) add("us", "security_opt seccomp", profile);
    else refused.push("security_opt with a seccomp profile by a relative path");
  }
  const build = service["build"];
  // A pull or a build would move a name by which another stack's image is kept.
  if (imageNames(service).some(namesKept)) {
    refused.push(`an image by a name of ${KEPT_NAMES}, by which images are kept for rollbacks`);
  }
  if (!isObject(build)) return refused;
  const made = buildPaths(build, model);
  for (const each of made.paths) add("us", `build ${each.what}`, each.path);
  return [...refused, ...made.refused.map((each) => `build ${each}`)];
}

/** All image names that a service pulls or builds. */
function imageNames(service: JsonObject): string[] {
  const mounts = objectsAt(service, "volumes").filter((each) => each["type"] === "image");
  return [
    textAt(service, "image"),
    ...textsOf(objectAt(service, "build")["tags"]),
    ...objectsAt(service, "pre_start").map((each) => textAt(each, "image")),
    ...mounts.map((each) => textAt(each, "source")),
  ];
}

/** Links to files that a process has open: the engine resolves them differently than our check. */
export const OF_A_PROCESS =
  /^\/(?:proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|fd|map_files|root)|dev\/fd)(?:\/|$)/;

/** Reason for refusing such a path. */
export const THROUGH_PROCESS = "through what a process has open";

/** Configs or secrets in use: a missing one makes compose fail after the old container is gone. */
export function usedOf(model: ComposeModel, kind: "configs" | "secrets"): ReadonlySet<string> {
  const uses = Object.values(servicesOf(model)).flatMap((service) => [
    ...objectsAt(service, kind),
    ...objectsAt(objectAt(service, "build"), kind),
  ]);
  return new Set(uses.map((each) => textAt(each, "source")));
}

/** The relation of one path to another. */
export function pathRelation(path: string, other: string): "inside" | "around" | "apart" {
  if (insideTree(path, other) !== undefined) return "inside";
  const back = relative(path, other);
  return back === ".." || back.startsWith("../") ? "apart" : "around";
}
