import { isAbsolute, relative, resolve } from "node:path/posix";
import type { ComposeModel } from "../model/mod.ts";
import { refusedCache } from "./build_cache.ts";
import { isObject, type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";
import { insideTree } from "./tree_paths.ts";

/** One path of a rendered model that somebody follows on a file system. */
export interface FollowedPath {
  /** `service web: build context`, for messages. */
  readonly what: string;
  /** Absolute. */
  readonly path: string;
  /**
   * Who follows it: `us`, with the rights of this service, or the engine, which mounts it from its
   * host into a container.
   */
  readonly by: "us" | "engine";
  /** Whether even a path in the tree is refused: it would not be led to a stable place. */
  readonly everywhere?: boolean;
}

/** Paths of a rendered model that leave the source. */
export interface FollowedPaths {
  readonly paths: readonly FollowedPath[];
  /** Named volumes as the engine knows them, by what uses them. */
  readonly volumes: readonly { readonly what: string; readonly name: string }[];
  /** Containers, by name or id, whose mounts a service gets, whatever project they are of. */
  readonly containers: readonly { readonly what: string; readonly name: string }[];
  /** Containers whose processes, network or memory a service shares, by name or id. */
  readonly shared: readonly { readonly what: string; readonly name: string }[];
  /** Parts that no repository may use, a clause each. */
  readonly refused: readonly string[];
}

/** The first config or secret in use that somebody else has to make, by its path in the model. */
export function externalObject(model: ComposeModel): string | undefined {
  for (const kind of ["configs", "secrets"] as const) {
    for (const [name, resource] of Object.entries(objectAt(model, kind))) {
      if (isObject(resource) && resource["external"] === true && isUsed(model, kind, name)) {
        return `${kind}.${name}`;
      }
    }
  }
  return undefined;
}

/**
 * Every path of a rendered model that is read by compose or buildx, or mounted by the engine. What
 * compose and buildx read must lie in the tree; what is mounted from the host is the author's choice,
 * as long as it is not ours. With `readsFiles` those of configs and secrets are read here, as for a
 * swarm, which is given their content.
 */
export function followedPaths(
  model: ComposeModel,
  { readsFiles = false }: { readonly readsFiles?: boolean } = {},
): FollowedPaths {
  const paths: FollowedPath[] = [];
  const refused: string[] = [];
  const containers: { what: string; name: string }[] = [];
  const shared: { what: string; name: string }[] = [];
  for (const [name, service] of Object.entries(servicesOf(model))) {
    const add = (by: FollowedPath["by"], what: string, path: string) => {
      if (isAbsolute(path)) {
        paths.push({ what: `service ${name}: ${what}`, path: resolve(path), by });
      }
    };
    const of = (what: string) => `service ${name}: ${what}`;
    // Names of services stand on command lines, where compose would take this one for an option.
    if (name.startsWith("-")) refused.push(of("its name begins with a dash"));
    refused.push(...refusedUses(service).map(of));
    for (const volume of objectsAt(service, "volumes")) {
      if (volume["type"] === "bind") add("engine", "volume", textAt(volume, "source"));
    }
    for (const each of textsOf(service["volumes_from"])) {
      const container = /^container:([^:]*)/.exec(each)?.[1];
      if (container !== undefined) containers.push({ what: of("volumes_from"), name: container });
    }
    for (const key of ["ipc", "network_mode", "pid"]) {
      const container = /^container:([^]+)$/.exec(textAt(service, key))?.[1];
      if (container !== undefined) shared.push({ what: of(key), name: container });
    }
    refused.push(...readPaths(service, model, add).map(of));
  }
  for (const kind of ["configs", "secrets"] as const) {
    for (const [name, resource] of Object.entries(objectAt(model, kind))) {
      const file = isObject(resource) ? textAt(resource, "file") : "";
      if (isAbsolute(file)) {
        const by = readsFiles ? "us" as const : "engine" as const;
        paths.push({ what: `${kind}.${name}`, path: resolve(file), by });
      }
    }
  }
  const volumes = volumesOf(model, paths);
  for (const { what, path } of paths) {
    if (OF_A_PROCESS.test(path)) refused.push(`${what} through what a process has open`);
  }
  return { paths, refused, containers, shared, volumes };
}

/** Uses of a service that would run programs, or hand out credentials, where Stackwright runs. */
function refusedUses(service: JsonObject): string[] {
  const refused: string[] = [];
  if (service["provider"] !== undefined) {
    refused.push("provider, which would run a program on the machine of Stackwright");
  }
  if (textsOf(service["models"]).length > 0) {
    refused.push("models, for which compose runs a program on the machine of Stackwright");
  }
  if (service["use_api_socket"] === true) {
    refused.push("use_api_socket, which would hand out the credentials for our registries");
  }
  return refused;
}

/** Adds the paths of a service that compose reads itself; returns those that are refused. */
function readPaths(
  service: JsonObject,
  model: ComposeModel,
  add: (by: FollowedPath["by"], what: string, path: string) => void,
): string[] {
  const refused: string[] = [];
  for (const option of textsOf(service["security_opt"])) {
    // Compose reads the profile itself, relative to the project.
    const profile = /^seccomp[=:]([^]*)$/.exec(option)?.[1] ?? "";
    if (profile === "" || profile === "unconfined" || profile === "builtin") continue;
    if (isAbsolute(profile)) add("us", "security_opt seccomp", profile);
    else refused.push("security_opt with a seccomp profile by a relative path");
  }
  const build = service["build"];
  if (!isObject(build)) return refused;
  const made = buildPaths(build, model);
  for (const each of made.paths) add("us", `build ${each.what}`, each.path);
  return [...refused, ...made.refused.map((each) => `build ${each}`)];
}

/** A way to anywhere that leads elsewhere for the engine than for us, who look where it leads. */
const OF_A_PROCESS = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|fd|map_files|root)(?:\/|$)/;

/** Compose notices what it cannot give to a service when the old container is gone. */
function isUsed(model: ComposeModel, kind: "configs" | "secrets", name: string): boolean {
  return Object.values(servicesOf(model)).some((service) =>
    [...objectsAt(service, kind), ...objectsAt(objectAt(service, "build"), kind)]
      .some((each) => textAt(each, "source") === name)
  );
}

function volumesOf(model: ComposeModel, paths: FollowedPath[]): FollowedPaths["volumes"] {
  return Object.entries(objectAt(model, "volumes")).map(([key, volume]) => {
    const definition = isObject(volume) ? volume : {};
    const options = objectAt(definition, "driver_opts");
    const device = deviceOf(options);
    if (device !== undefined) paths.push({ what: `volumes.${key}`, path: device, by: "engine" });
    for (const path of pathsInOptions(options)) {
      paths.push({ what: `volumes.${key}.driver_opts`, path, by: "engine", everywhere: true });
    }
    return { what: `volumes.${key}`, name: textAt(definition, "name") || key };
  });
}

/** File systems whose device is no path of the host. */
const ELSEWHERE = /^(?:tmpfs|overlay|nfs\d?|cifs|smb3|ceph|glusterfs)$/;

/** What a volume is mounted from; the engine's working directory is the root. */
function deviceOf(options: JsonObject): string | undefined {
  const device = textAt(options, "device");
  if (device === "") return undefined;
  if (isAbsolute(device)) return resolve(device);
  return ELSEWHERE.test(textAt(options, "type")) ? undefined : resolve("/", device);
}

/**
 * Paths in options of a volume besides its device: layers of an overlay, places of other drivers. They
 * are read as the kernel reads them: a backslash keeps the next character, the working directory is
 * the root.
 */
function pathsInOptions(options: JsonObject): string[] {
  const others = Object.entries(options).filter(([key]) => key !== "device" && key !== "type");
  return others.flatMap(([, value]) => {
    const text = typeof value === "string" ? value.replaceAll("\\", "") : "";
    return text.split(",").flatMap((option) => {
      const isLayer = /^\s*(?:lowerdir|upperdir|workdir|datadir)\+?=/.test(option);
      const parts = option.split(/[:=;\s]+/);
      const found = isLayer ? parts.slice(1) : parts.filter((part) => part.includes("/"));
      return found.filter((part) => part !== "").map((part) => resolve("/", part));
    });
  });
}

/**
 * What compose 2.37 and later hand on to `buildx bake`, which evaluates it: `.%{if true}.%{endif}/x` is
 * `../x` there, and a plain name for everybody before.
 */
const EXPRESSION = /[$%]\{/;

function buildPaths(build: JsonObject, model: ComposeModel) {
  const paths: { what: string; path: string }[] = [];
  const refused: string[] = [];
  const context = textAt(build, "context");
  const files = objectsAt(build, "secrets").map((each) =>
    textAt(objectAt(objectAt(model, "secrets"), textAt(each, "source")), "file")
  );
  const { args: _args, dockerfile_inline: _inline, labels: _labels, ...read } = build;
  for (const [key, value] of Object.entries({ ...read, "secrets by files": files })) {
    if (EXPRESSION.test(JSON.stringify({ [key]: value }))) {
      refused.push(`${key} with \${ or %{, which newer versions of compose have buildx replace`);
    }
  }
  const addContext = (what: string, value: string) => {
    const layout = layoutOf(value);
    if (layout !== undefined && !isAbsolute(layout)) {
      refused.push(`${what} by a relative path, or by one with a colon`);
    }
    if (layout === undefined && !isAbsolute(value)) {
      refused.push(`${what} from elsewhere: only directories of the repository are built`);
    }
    paths.push({ what, path: layout ?? value });
  };
  if (context !== "" || build["dockerfile_inline"] === undefined) addContext("context", context);
  for (const [name, value] of Object.entries(objectAt(build, "additional_contexts"))) {
    // Images and what other builds made come from the engine.
    if (/^(?:docker-image:\/\/|service:|target:)/.test(String(value))) continue;
    addContext(`additional_contexts.${name}`, String(value));
  }
  const dockerfile = textAt(build, "dockerfile");
  if (dockerfile === "-" || /^[a-z][a-z0-9+.-]*:\/\//i.test(dockerfile)) {
    refused.push("dockerfile from elsewhere: it must be a file of the repository");
  }
  if (dockerfile !== "" && (isAbsolute(dockerfile) || isAbsolute(context))) {
    paths.push({ what: "dockerfile", path: resolve(context, dockerfile) });
  }
  for (const secret of objectsAt(build, "secrets")) {
    const definition = objectAt(objectAt(model, "secrets"), textAt(secret, "source"));
    paths.push({ what: `secret ${textAt(secret, "source")}`, path: textAt(definition, "file") });
  }
  for (const each of textsOf(build["ssh"])) {
    if (/^[^=:]*[=:][^]/.test(each)) {
      refused.push("ssh with a key file: its path is one of this machine");
    }
  }
  for (const key of ["cache_from", "cache_to"]) {
    for (const each of textsOf(build[key])) {
      const why = refusedCache(each);
      if (why !== undefined) refused.push(`${key} ${why}`);
    }
  }
  return { paths, refused };
}

/**
 * The directory of an OCI layout, `oci-layout://PATH[:TAG][@DIGEST]`; empty when readers may differ in
 * where it ends, `undefined` for what is no layout.
 */
function layoutOf(value: string): string | undefined {
  const scheme = "oci-layout://";
  if (!value.startsWith(scheme)) return undefined;
  const [named = ""] = value.slice(scheme.length).split("@", 1);
  const colon = named.indexOf(":");
  if (colon < 0) return named;
  return /[:/]/.test(named.slice(colon + 1)) ? "" : named.slice(0, colon);
}

/** Texts of a list, or of a map as `key=value`. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((each) =>
      typeof each === "string" ? [each] : isObject(each) ? textsOf(each) : []
    );
  }
  return isObject(value)
    ? Object.entries(value).map(([key, each]) => `${key}=${each === null ? "" : String(each)}`)
    : [];
}

/** The relation of one path to another. */
export function pathRelation(path: string, other: string): "inside" | "around" | "apart" {
  if (insideTree(path, other) !== undefined) return "inside";
  const back = relative(path, other);
  return back === ".." || back.startsWith("../") ? "apart" : "around";
}
