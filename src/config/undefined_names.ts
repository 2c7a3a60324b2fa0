import { posix } from "node:path";
import { isObject, type Problem, recordOf } from "../model/mod.ts";
import { type ComposeText, servicesIn } from "./compose_text.ts";

/** What a service names by its key at the root of a project. */
const KINDS = ["services", "networks", "volumes", "configs", "secrets"] as const;

type Kind = (typeof KINDS)[number];

/** Keys of services, with what their entries name. */
const NAMED_BY = {
  depends_on: "services",
  networks: "networks",
  volumes: "volumes",
  configs: "configs",
  secrets: "secrets",
} as const satisfies Readonly<Record<string, Kind>>;

/** Most problems of a project: more are one mistake. */
const MOST_FOUND = 20;

/**
 * Problems of services that name a service, network, volume, config or secret which none of the project's
 * files defines. All of them have to be given: what is missing may be in one that is not. Leaves out
 * names with variables, services with profiles in any file, which compose may never look at, and what
 * another entry for the same target may replace.
 */
export function undefinedNames(files: readonly ComposeText[]): Problem[] {
  const defined = new Map(KINDS.map((kind) => [kind, namesOf(files, kind)]));
  defined.get("networks")?.add("default");
  const services = files.flatMap((read) =>
    servicesIn(read).map((each) => ({ file: read.file, ...each }))
  );
  const maybeOff = new Set(
    services.flatMap(({ name, service }) => service["profiles"] === undefined ? [] : [name]),
  );
  const entries = services.filter(({ name }) => !maybeOff.has(name)).flatMap((each) =>
    Object.entries(NAMED_BY).flatMap(([key, kind]) =>
      entriesIn(key, each.service[key]).map(({ name, at, target }) => ({
        ...{ service: each, key, kind, at },
        missing: name !== undefined && defined.get(kind)?.has(name) !== true ? name : undefined,
        place: JSON.stringify([each.name, key, target]),
        anywhere: JSON.stringify([each.name, key, undefined]),
      }))
    )
  );
  const fine = new Set(entries.flatMap((each) => each.missing === undefined ? [each.place] : []));
  return entries.filter(({ missing, place, anywhere }) =>
    missing !== undefined && !fine.has(place) && !fine.has(anywhere)
  ).slice(0, MOST_FOUND).map(({ service: { file, name, lineOf }, key, kind, at, missing }) => ({
    file,
    path: `services.${name}.${key}`,
    ...placeOf(lineOf, [key, at], [key]),
    message: `no ${kind.slice(0, -1)} is called ${JSON.stringify(missing)}`,
  }));
}

type LineOf = ReturnType<typeof servicesIn>[number]["lineOf"];

function placeOf(lineOf: LineOf, ...tries: readonly (readonly (string | number)[])[]) {
  return tries.map((keys) => lineOf(...keys)).find(({ line }) => line !== undefined) ?? {};
}

function namesOf(files: readonly ComposeText[], kind: Kind): Set<string> {
  return new Set(
    files.flatMap(({ documents }) =>
      documents.flatMap(({ value }) => Object.keys(recordOf(recordOf(value)[kind])))
    ),
  );
}

/** An entry in a key of a service. */
interface Entry {
  readonly at: string | number;
  /** What it names; none where it names nothing, or nobody knows what. */
  readonly name: string | undefined;
  /** Of entries for the same target compose takes the last one; none where it is not known. */
  readonly target: string | undefined;
}

function entriesIn(key: string, value: unknown): Entry[] {
  const entries: (readonly [at: string | number, name: unknown, target: unknown])[] =
    !Array.isArray(value)
      ? Object.keys(recordOf(value)).map((name) => [name, name, name])
      : key === "volumes"
      ? value.map((each, at) => [at, volumeIn(each), mountPointIn(each)])
      : value.map((each, at) => [at, nameIn(each), recordOf(each)["target"] ?? nameIn(each)]);
  return entries.map(([at, name, target]) => {
    const path = typeof name === "string" && name === target ? name : sure(target);
    return {
      at,
      name: path === undefined ? undefined : sure(name),
      target: path && posix.resolve(key === "secrets" ? "/run/secrets" : "/", path),
    };
  });
}

/** A text that is not empty and has no variables. */
function sure(text: unknown): string | undefined {
  return typeof text === "string" && text !== "" && !text.includes("$") ? text : undefined;
}

function nameIn(entry: unknown): unknown {
  return isObject(entry) ? entry["source"] : entry;
}

/** The volume of a mount; `undefined` for a mount of another kind. */
function volumeIn(entry: unknown): unknown {
  if (isObject(entry)) return entry["type"] === "volume" ? entry["source"] : undefined;
  // A letter alone may be a drive.
  return typeof entry === "string"
    ? /^([a-zA-Z0-9][a-zA-Z0-9_.-]+):\//.exec(entry)?.[1]
    : undefined;
}

function mountPointIn(entry: unknown): unknown {
  if (isObject(entry)) return entry["target"];
  return typeof entry === "string" ? /(?:^|:)(\/[^:]*)(?::[^:/]*)?$/.exec(entry)?.[1] : undefined;
}
