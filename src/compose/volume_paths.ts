import { resolve } from "node:path/posix";
import { type ComposeModel, errors, type StackwrightError } from "../model/mod.ts";
import { type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";
import type { FollowedPath, FollowedPaths } from "./followed_path.ts";
import { resourcesOf } from "./resources.ts";
import { insideTree } from "./tree_paths.ts";

/** What is said of a path that {@link climbsBack}. */
export const CLIMBS_BACK = "by a path that climbs back with ..";

/**
 * Where links lead elsewhere for each process that follows them, which nobody can judge at the place that
 * the engine gives a volume: a mount of the directory itself into a container shows them to nobody else.
 */
const PROCESSES = "/proc";
const SHOWS_PROCESSES = "that shows the processes of the host";

/** Paths that options of the volumes of a project may name: one text of them is a list. */
const MOST_PATHS = 20_000;

/**
 * The volumes of a project that lie on the host, whose paths are added to `paths`, and what is refused of
 * them to `refused`. Throws `config_invalid` for options that name more of them than any project has.
 */
export function volumesOf(
  model: ComposeModel,
  paths: FollowedPath[],
  refused: string[],
): FollowedPaths["volumes"] {
  let left = MOST_PATHS;
  return resourcesOf(model, "volumes").map(({ key, name, definition }) => {
    const options = objectAt(definition, "driver_opts");
    const add = (what: string, written: string, everywhere: boolean) => {
      const path = resolve("/", written);
      if (climbsBack(written)) refused.push(`${what} ${CLIMBS_BACK}`);
      if (insideTree(path, PROCESSES) !== undefined) refused.push(`${what} ${SHOWS_PROCESSES}`);
      paths.push({ what, path, by: "engine", everywhere });
    };
    if (options["type"] === "proc") refused.push(`volumes.${key} ${SHOWS_PROCESSES}`);
    const device = textAt(options, "device");
    if (device !== "") add(`volumes.${key}`, device, false);
    for (const path of pathsInOptions(options)) {
      if (--left < 0) throw tooManyPaths(key);
      add(`volumes.${key}.driver_opts`, path, true);
    }
    return { what: `volumes.${key}`, name };
  });
}

/**
 * Whether a path has `..` behind a name. The kernel, which gets the paths of volumes and builds as they are
 * written, climbs from where a link leads: `/var/run/../data` is `/data`.
 */
export function climbsBack(path: string): boolean {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const named = parts.findIndex((part) => part !== "..");
  return named >= 0 && parts.includes("..", named);
}

/**
 * Paths in options of a volume besides its device, as they are written: layers of an overlay, places of
 * other drivers. They are read as the kernel reads them: a backslash keeps the next character, the
 * working directory is the root. So is the device, whatever the type: with `bind` among the options the
 * kernel passes over that. The device of a share (`:/srv`) leads nowhere as a path.
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

/**
 * What a swarm puts into mounts that can be no path: names and ids of what is there. Anything else can be
 * any text, a path that climbs included.
 */
const HARMLESS =
  /\{\{\s*\.(?:Service\.(?:ID|Name)|Node\.(?:ID|Hostname)|Task\.(?:ID|Name|Slot))\s*\}\}/g;

/**
 * Uses of templates in mounts by which a swarm would mount something else than what is written: it
 * evaluates them when it makes a task, and `/da{{""}}ta` is `/data` then.
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
 * True when `written`, whose end a swarm may choose by a template, can lead to what is called `ours`, or
 * below it. Without a template it cannot.
 */
export function mayBecome(written: string, ours: string): boolean {
  const at = written.indexOf("{{");
  return at >= 0 && ours.startsWith(written.slice(0, at));
}
