import { clip, type ComposeModel } from "../model/mod.ts";
import { NAMED_VALUES } from "./model_secrets.ts";

/**
 * Limits of a rendered project, at least ten times the largest known ones. Code that processes a
 * model may compare each entry of one list with each of another, since neither is long.
 */
export const BOUNDS = {
  /** Each service may be compared with all others. */
  services: 500,
  /** Networks, volumes, configs and secrets, of each kind. */
  resources: 1000,
  /** Entries of any other list or map. */
  entries: 2000,
  /** Ports and exposed ports of all services: slightly more than one protocol has. */
  ports: 70_000,
  /** All values except {@link BOUNDS.ports}; lists and maps count as well. */
  values: 100_000,
  /** Characters of one text, and of a whole compose file. */
  text: 256 * 1024,
  /** Characters in the name of a service, network, volume, config, secret or container. */
  name: 255,
  /** Characters of all names, with images, containers and hosts: secrets are searched in them. */
  names: 256 * 1024,
  /** Characters of any other key. */
  key: 1000,
  /** Characters of a path, for which the kernel allows as many bytes, and of any other name. */
  path: 4096,
  /** Directories in one path. */
  parts: 256,
} as const;

const MOST_OF: ReadonlyMap<string, number> = new Map([
  ["services", BOUNDS.services],
  ...["networks", "volumes", "configs", "secrets"].map((each) => [each, BOUNDS.resources] as const),
]);
/** Keys for paths, outside of maps with names chosen by authors. */
const PATHS: ReadonlySet<string> = new Set([
  "context",
  "dockerfile",
  "file",
  "path",
  "source",
  "subpath",
  "target",
  "working_dir",
]);
/** Keys for names, outside of the same maps. */
const NAMES: ReadonlySet<string> = new Set(["container_name", "hostname", "image", "name"]);
const NAMED: ReadonlySet<string> = new Set([...NAMED_VALUES, "annotations", "sysctls"]);

/** The first place of a model beyond {@link BOUNDS}, in words without a value; `undefined` for none. */
export function beyondBounds(model: ComposeModel): string | undefined {
  let [values, ports, names] = [0, 0, 0];
  return look(model, []);

  function look(value: unknown, at: readonly string[]): string | undefined {
    // Ports have a count of their own, but their texts are checked like all others.
    if (!isOfPort(at) && ++values > BOUNDS.values) {
      return many("the project", "values besides ports", BOUNDS.values);
    }
    if (typeof value === "string") {
      return longText(value, at) ?? controlIn(value, at) ?? named(isName(at) ? value : "");
    }
    if (typeof value !== "object" || value === null) return undefined;
    const entries = Object.entries(value);
    if (isPorts(at)) ports += entries.length;
    if (ports > BOUNDS.ports) return many("the project", "ports", BOUNDS.ports);
    const parts = at.length === 1 ? MOST_OF.get(at[0] ?? "") : undefined;
    const most = parts ?? (isPorts(at) ? BOUNDS.ports : isOfPort(at) ? OF_A_PORT : BOUNDS.entries);
    if (entries.length > most) return many(placeOf(at), "entries", most, entries.length);
    const longest = parts === undefined ? BOUNDS.key : BOUNDS.name;
    for (const [key, inner] of entries) {
      const found = key.length > longest
        ? many(placeOf(at), "characters in a key", longest, key.length)
        : controlIn(key, at) ?? named(parts === undefined ? "" : key) ?? look(inner, [...at, key]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function named(name: string): string | undefined {
    names += name.length;
    return names > BOUNDS.names
      ? many("the project", "characters in its names", BOUNDS.names)
      : undefined;
  }
}

function isName(at: readonly string[]): boolean {
  return NAMES.has(at.at(-1) ?? "") && !NAMED.has(at.at(-2) ?? "");
}

function isPorts(at: readonly string[]): boolean {
  return at.length === 3 && at[0] === "services" && (at[2] === "ports" || at[2] === "expose");
}

/** Entries of one port, whose values are not counted. */
const OF_A_PORT = 20;

function isOfPort(at: readonly string[]): boolean {
  return at.length > 3 && isPorts(at.slice(0, 3));
}

function longText(text: string, at: readonly string[]): string | undefined {
  if (text.length > BOUNDS.text) return many(placeOf(at), "characters", BOUNDS.text, text.length);
  const isPath = PATHS.has(at.at(-1) ?? "") && !NAMED.has(at.at(-2) ?? "") || isDevice(at);
  if (!isPath && !isName(at)) return undefined;
  const most = at.length === 3 && at[2] === "container_name" ? BOUNDS.name : BOUNDS.path;
  if (text.length > most) return many(placeOf(at), "characters", most, text.length);
  const parts = text.split("/").length;
  return parts > BOUNDS.parts ? many(placeOf(at), "directories", BOUNDS.parts, parts) : undefined;
}

/** Whether a place is that of a volume's device, which may be a path whatever its driver is. */
function isDevice(at: readonly string[]): boolean {
  return at.length === 4 && at[0] === "volumes" && at[2] === "driver_opts" && at[3] === "device";
}

/** Whether a path is beyond {@link BOUNDS}. */
export function isLongPath(path: string): boolean {
  return path.length > BOUNDS.path || path.split("/").length > BOUNDS.parts;
}

/** Characters of which an engine writes six for each. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/**
 * Says that a text of a network, volume, config or secret has a control character: a swarm lists a volume's
 * definition with each mount, and what is too long there cannot be read. Contents are not listed.
 */
function controlIn(text: string, at: readonly string[]): string | undefined {
  const isDefinition = at[0] !== "services" && MOST_OF.has(at[0] ?? "") && at[2] !== "content";
  return isDefinition && CONTROL.test(text) ? `${placeOf(at)} has a control character` : undefined;
}

function many(place: string, what: string, most: number, found?: number): string {
  return `${place} has ${found ?? "too many"} ${what}, the most is ${most}`;
}

function placeOf(at: readonly string[]): string {
  return at.length === 0 ? "the project" : at.map((each) => clip(each, 100)).join(".");
}
