import { resolve } from "node:path/posix";
import { type ComposeModel, errors, partsOfPath, type StackwrightError } from "../model/mod.ts";
import { type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";
import type { FollowedPath, FollowedPaths } from "./followed_path.ts";
import { isLongPath } from "./model_bounds.ts";
import { resourcesOf } from "./resources.ts";

/** Reason for refusing a path that {@link climbsBack}. */
export const CLIMBS_BACK = "by a path that climbs back with ..";

/**
 * Directory with links that lead elsewhere for each process. A volume on it would show them at a
 * path that nobody can check; a direct bind mount shows them to that container alone.
 */
export const PROCESSES = "/proc";

/** Reason for refusing a volume on {@link PROCESSES}. */
export const SHOWS_PROCESSES = "that shows the processes of the host";

/** Limit of paths in the options of a project's volumes, as one text may hold a list. */
const MOST_PATHS = 20_000;

/**
 * The volumes of a project. Adds their host paths to `paths`, and refused settings to `refused`.
 * Throws `config_invalid` for more paths in options than any project has.
 */
export function volumesOf(
  model: ComposeModel,
  paths: FollowedPath[],
  refused: string[],
): FollowedPaths["volumes"] {
  let left = MOST_PATHS;
  const parts = partsOfVolumes(model);
  return resourcesOf(model, "volumes").map(({ key, name, definition }) => {
    const options = objectAt(definition, "driver_opts");
    const add = (what: string, written: string, everywhere: boolean) => {
      if (isLongPath(written)) return void refused.push(`${what} by a path that is too long`);
      const path = resolve("/", written);
      if (climbsBack(written)) refused.push(`${what} ${CLIMBS_BACK}`);
      paths.push({ what, path, by: "engine", everywhere, ofVolume: true });
    };
    if (options["type"] === "proc") refused.push(`volumes.${key} ${SHOWS_PROCESSES}`);
    const device = textAt(options, "device");
    if (device !== "") add(`volumes.${key}`, device, false);
    const outer = resolve("/", isLongPath(device) ? "" : device);
    const inside = { by: "engine", everywhere: false, ofVolume: true } as const;
    for (const part of device === "" ? [] : parts.get(key) ?? []) {
      const path = pathBelow(outer, part);
      paths.push({ what: `volumes.${key}: subpath`, path, ...inside });
    }
    for (const path of pathsInOptions(options)) {
      if (--left < 0) throw tooManyPaths(key);
      add(`volumes.${key}.driver_opts`, path, true);
    }
    return { what: `volumes.${key}`, name };
  });
}

/** A path below a directory, whose long text is not read again for each of many. */
function pathBelow(directory: string, path: string): string {
  let found = directory === "/" ? "" : directory;
  for (const part of partsOfPath(path)) {
    found = part === ".."
      ? found.slice(0, Math.max(0, found.lastIndexOf("/")))
      : `${found}/${part}`;
  }
  return found || "/";
}

/** Subpaths that services mount instead of a whole volume, by the volume's key. */
function partsOfVolumes(model: ComposeModel): ReadonlyMap<string, ReadonlySet<string>> {
  const parts = new Map<string, Set<string>>();
  for (
    const mount of Object.values(servicesOf(model)).flatMap((each) => objectsAt(each, "volumes"))
  ) {
    if (mount["type"] !== "volume") continue;
    const part = textAt(objectAt(mount, "volume"), "subpath");
    const volume = textAt(mount, "source");
    if (part !== "") parts.getOrInsertComputed(volume, () => new Set()).add(part);
  }
  return parts;
}

/**
 * Whether a path has `..` after a name. The kernel, which resolves paths of volumes and builds as
 * they are written, climbs from a link's target: `/var/run/../data` is `/data`.
 */
export function climbsBack(path: string): boolean {
  const parts = partsOfPath(path);
  const named = parts.findIndex((part) => part !== "..");
  return named >= 0 && parts.includes("..", named);
}

/**
 * Paths in a volume's options except its device: layers of an overlay, paths of other drivers.
 * Parsed like in the kernel: a backslash keeps the next character, the working directory is the
 * root. The device is always a path, whatever the type, which the kernel ignores with `bind`. A
 * share's device (`:/srv`) leads nowhere as a path.
 */
function* pathsInOptions(options: JsonObject): Iterable<string> {
  for (const [key, value] of Object.entries(options)) {
    if (key === "device" || key === "type" || typeof value !== "string") continue;
    const written = new Set<string>();
    for (const option of value.replaceAll("\\", "").split(",")) {
      const isLayer = /^\s*(?:lowerdir|upperdir|workdir|datadir)\+?=/.test(option);
      const parts = option.split(/[:=;\s]+/);
      for (const part of isLayer ? parts.slice(1) : parts) {
        if (part === "" || written.has(part) || !(isLayer || part.includes("/"))) continue;
        written.add(part);
        yield part;
      }
    }
  }
}

function tooManyPaths(key: string): StackwrightError {
  return errors.config_invalid(
    `volumes.${key}.driver_opts: the options of all volumes name more than ${MOST_PATHS} paths`,
  );
}

/** Templates whose values are names and ids, and no paths. Others may yield any text, even one that climbs. */
const HARMLESS =
  /\{\{\s*\.(?:Service\.(?:ID|Name)|Node\.(?:ID|Hostname)|Task\.(?:ID|Name|Slot))\s*\}\}/g;

/**
 * Templates in mounts that are refused because a swarm would mount another path than the written
 * one: it evaluates them when it makes a task, and `/da{{""}}ta` becomes `/data`.
 */
export function refusedTemplates(model: ComposeModel): string[] {
  const mounts = Object.entries(servicesOf(model)).flatMap(([name, service]) =>
    objectsAt(service, "volumes").map((each) => [`service ${name}: volumes`, each] as const)
  );
  const volumes = Object.entries(objectAt(model, "volumes")).map(([key, each]) =>
    [`volumes.${key}`, each] as const
  );
  return [...mounts, ...volumes].filter(([, value]) =>
    JSON.stringify(value).replace(HARMLESS, "").includes("{{")
  ).map(([what]) =>
    `${what} with a template other than the name or the id of a service, node or task`
  );
}

/**
 * Whether `written`, whose end may be a template that a swarm evaluates, can become the path `ours`
 * or one below it. Impossible without a template.
 */
export function mayBecome(written: string, ours: string): boolean {
  const at = written.indexOf("{{");
  return at >= 0 && ours.startsWith(written.slice(0, at));
}

/**
 * Whether a swarm may make `name` of a name, or of a part of a path, that is `written` with
 * templates: by what stands before the first and after the last of them.
 */
export function fitsTemplate(written: string, name: string): boolean {
  const at = written.indexOf("{{");
  if (at < 0) return written === name;
  const end = written.slice(written.lastIndexOf("}}") + 2);
  return name.length >= at + end.length && name.startsWith(written.slice(0, at)) &&
    name.endsWith(end);
}
