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
 * names with variables, and services with profiles, which compose may never look at.
 */
export function undefinedNames(files: readonly ComposeText[]): Problem[] {
  const defined = new Map(KINDS.map((kind) => [kind, namesOf(files, kind)]));
  defined.get("networks")?.add("default");
  return files.flatMap((read) =>
    servicesIn(read).flatMap(({ name: service, service: fields, lineOf }) => {
      if (fields["profiles"] !== undefined) return [];
      return Object.entries(NAMED_BY).flatMap(([key, kind]) =>
        namesIn(key, fields[key]).filter(({ name }) => !defined.get(kind)?.has(name))
          .map(({ name, at }) => ({
            file: read.file,
            path: `services.${service}.${key}`,
            ...placeOf(lineOf, [key, at], [key]),
            message: `no ${kind.slice(0, -1)} is called ${JSON.stringify(name)}`,
          }))
      );
    })
  ).slice(0, MOST_FOUND);
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

/** The names in a key of a service, with the place of each in it. */
function namesIn(
  key: string,
  value: unknown,
): { readonly name: string; readonly at: string | number }[] {
  const entries: (readonly [at: string | number, entry: unknown, isKey: boolean])[] =
    Array.isArray(value)
      ? value.map((each, at) => [at, each, false])
      : Object.entries(recordOf(value)).map(([name, each]) => [name, each, true]);
  return entries.flatMap(([at, entry, isKey]) => {
    const isRequired = !isKey || (recordOf(entry)["required"] ?? true) === true;
    if (!isRequired) return [];
    const name = isKey ? at : key === "volumes" ? volumeIn(entry) : nameIn(entry);
    return typeof name === "string" && name !== "" && !name.includes("$") ? [{ name, at }] : [];
  });
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
