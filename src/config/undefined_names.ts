import { posix } from "node:path";
import { isObject, type Problem, recordOf } from "../model/mod.ts";
import { UNKNOWN } from "./compose_references.ts";
import { type ComposeText, lineOf, servicesIn } from "./compose_text.ts";

/** What a service names by its key at the root of a project. */
const KINDS = ["services", "networks", "volumes", "configs", "secrets", "models"] as const;

type Kind = (typeof KINDS)[number];

/** An entry as it was written: where it is, what it names, and what of the service it is for. */
type Written = readonly [at: string | number, name: unknown, target: unknown];

/** A place in services where entries name something of the project. */
interface NamingPlace {
  readonly keys: readonly [string] | readonly [string, string];
  readonly kind: Kind;
  readonly entriesIn: (value: unknown) => Written[];
  /** Whether compose looks at it, and at what it names, whichever profiles are on. */
  readonly isAnyProfile?: boolean;
}

const PLACES: readonly NamingPlace[] = [
  { keys: ["depends_on"], kind: "services", entriesIn: named },
  { keys: ["extends"], kind: "services", entriesIn: extended, isAnyProfile: true },
  { keys: ["links"], kind: "services", entriesIn: beforeColon },
  { keys: ["volumes_from"], kind: "services", entriesIn: beforeColon },
  ...["network_mode", "ipc", "pid", "uts"].map((key) => ({
    ...{ keys: [key] as const, kind: "services" as const, entriesIn: ofService },
  })),
  { keys: ["networks"], kind: "networks", entriesIn: named },
  { keys: ["volumes"], kind: "volumes", entriesIn: mounted },
  { keys: ["configs"], kind: "configs", entriesIn: named },
  { keys: ["secrets"], kind: "secrets", entriesIn: named },
  { keys: ["build", "secrets"], kind: "secrets", entriesIn: named },
  { keys: ["models"], kind: "models", entriesIn: named },
];

/** Most problems of a project: more are one mistake. */
export const MOST_FOUND = 20;

/** Most files of configs and secrets that are looked for. */
export const MOST_FILES = 100;

/** A compose file of a project. All of them have to be given: what is missing may be in one that is not. */
export interface ProjectFile extends ComposeText {
  /** Directory from which its paths go, from the root of the checkout. */
  readonly base: string;
}

/** The profiles of a project that are active. */
export interface ActiveProfiles {
  readonly names: readonly string[];
  /** Whether a variable may name more of them. */
  readonly isMore: boolean;
}

/**
 * Problems of services that name a service, network, volume, config, secret or model which none of the
 * project's files defines, or a service whose profiles are off. Leaves out names with variables, what
 * services name that may be off themselves, and what another entry for the same target may replace.
 */
export function undefinedNames(files: readonly ProjectFile[], active: ActiveProfiles): Problem[] {
  const defined = new Map(KINDS.map((kind) => [kind, namesOf(files, kind)]));
  defined.get("networks")?.add("default");
  const { entries, isDeployed } = entriesOf(files, active);
  const optional = new Set(entries.flatMap((each) => each.isOptional ? [each.edge] : []));
  const judged = entries.map((each) => {
    const { name, kind, edge, isAnyProfile } = each;
    if (name === undefined) return { ...each, why: undefined };
    const quoted = JSON.stringify(name);
    if (defined.get(kind)?.has(name) !== true) {
      return { ...each, why: `no ${kind.slice(0, -1)} is called ${quoted}` };
    }
    const isOff = kind === "services" && !isAnyProfile && isDeployed(name) === false;
    return { ...each, why: isOff && !optional.has(edge) ? switchedOff(quoted) : undefined };
  });
  const fine = new Set(judged.flatMap((each) => each.why === undefined ? [each.place] : []));
  const wrong = judged.filter(({ why, place, anywhere }) =>
    why !== undefined && !fine.has(place) && !fine.has(anywhere)
  );
  return wrong.slice(0, MOST_FOUND).map(
    ({ service: { file, name, lineOf }, keys, at, why = "" }) => {
      const where = placeOf(lineOf, [...keys, at], keys);
      return { file, path: ["services", name, ...keys].join("."), ...where, message: why };
    },
  );
}

function switchedOff(name: string): string {
  return `no profile of service ${name} is active, so it is not deployed: list one in profiles ` +
    "of the deployment, or say required: false in depends_on";
}

/**
 * The files of configs and secrets that services certainly get, by their paths from the root of the
 * checkout, each with the place that names it. Leaves out paths with variables, or outside of the checkout.
 */
export function contentFiles(files: readonly ProjectFile[], active: ActiveProfiles) {
  const { entries } = entriesOf(files, active);
  const isAlone = onceIn(entries.map(({ place }) => place));
  return (["configs", "secrets"] as const).flatMap((kind) => {
    const used = new Set(
      entries.flatMap((each) => each.kind === kind && isAlone(each.place) ? [each.name] : []),
    );
    const definitions = definitionsOf(files, kind);
    const isOnlyOne = onceIn(definitions.map(({ name }) => name));
    return definitions.flatMap(({ name, value, file: read }) => {
      const written = sure(recordOf(value)["file"]);
      if (!used.has(name) || !isOnlyOne(name)) return [];
      if (written === undefined || UNKNOWN.test(written)) return [];
      const path = posix.join(read.base, written);
      if (path.startsWith("../")) return [];
      return [{ read, path, keys: [kind, name, "file"] }];
    });
  }).slice(0, MOST_FILES).map(({ read, path, keys }) => ({
    ...{ file: read.file, path, where: { path: keys.join("."), ...lineOf(read, keys) } },
  }));
}

/** Whether a text stands once in a list. */
function onceIn(texts: readonly string[]): (text: string) => boolean {
  const [seen, again] = [new Set<string>(), new Set<string>()];
  for (const text of texts) (seen.has(text) ? again : seen).add(text);
  return (text) => !again.has(text);
}

/** What the services of a project name that are certainly deployed, and whether a service is. */
function entriesOf(files: readonly ProjectFile[], active: ActiveProfiles) {
  const { services, isDeployed } = servicesOf(files, active);
  const entries = services.flatMap((service) =>
    PLACES.filter((place) => place.isAnyProfile || isDeployed(service.name) === true).flatMap(
      ({ entriesIn, ...each }) => {
        const [key, inner] = each.keys;
        const value = inner === undefined
          ? service.service[key]
          : recordOf(service.service[key])[inner];
        return value === undefined ? [] : entriesIn(value).map(([at, written, aim]) => {
          const path = typeof written === "string" && written === aim ? written : sure(aim);
          const target = path && posix.resolve(key === "secrets" ? "/run/secrets" : "/", path);
          return {
            ...{ isAnyProfile: false, ...each, service, at },
            /** What it names; none where it names nothing, or nobody knows what. */
            name: path === undefined ? undefined : sure(written),
            isOptional: isObject(value) && recordOf(value[at])["required"] === false,
            edge: JSON.stringify([service.name, written]),
            /** Of entries for the same target compose takes the last one; `anywhere` where it is not known. */
            place: JSON.stringify([service.name, ...each.keys, target]),
            anywhere: JSON.stringify([service.name, ...each.keys, undefined]),
          };
        });
      },
    )
  );
  return { entries, isDeployed };
}

/** The services of all files, and which of them are deployed. */
export function servicesOf(files: readonly ProjectFile[], active: ActiveProfiles) {
  const services = files.flatMap((read) =>
    servicesIn(read).map((each) => ({ file: read.file, base: read.base, ...each }))
  );
  return { services, isDeployed: deployedWith(services, active) };
}

/** Whether a service is deployed as its profiles are; `undefined` where nobody knows. */
function deployedWith(
  services: readonly Pick<ReturnType<typeof servicesIn>[number], "name" | "service">[],
  { names, isMore }: ActiveProfiles,
): (name: string) => boolean | undefined {
  const profiles = new Map<string, unknown[]>();
  const extending = new Set<string>();
  for (const { name, service } of services) {
    const said = service["profiles"];
    const all = said === undefined ? [] : Array.isArray(said) ? said : [undefined];
    profiles.set(name, [...profiles.get(name) ?? [], ...all]);
    if (service["extends"] !== undefined) extending.add(name);
  }
  const areThere = [...profiles.values()].some((each) => each.length > 0);
  return (name) => {
    const own = profiles.get(name) ?? [];
    if (own.some((each) => names.some((active) => active === "*" || active === each))) return true;
    // A service has the profiles of the one that it extends, too.
    if (areThere && extending.has(name)) return undefined;
    if (own.length === 0) return true;
    const areKnown = !isMore && [...own, ...names].every((each) => sure(each) !== undefined);
    return areKnown ? false : undefined;
  };
}

type LineOf = ReturnType<typeof servicesIn>[number]["lineOf"];

function placeOf(lineOf: LineOf, ...tries: readonly (readonly (string | number)[])[]) {
  return tries.map((keys) => lineOf(...keys)).find(({ line }) => line !== undefined) ?? {};
}

function definitionsOf(files: readonly ProjectFile[], kind: Kind) {
  return files.flatMap((file) =>
    file.documents.flatMap(({ value }) =>
      Object.entries(recordOf(recordOf(value)[kind])).map(([name, value]) => ({
        ...{ name, value, file },
      }))
    )
  );
}

function namesOf(files: readonly ProjectFile[], kind: Kind): Set<string> {
  return new Set(definitionsOf(files, kind).map(({ name }) => name));
}

/** A text that is not empty and has no variables. */
export function sure(text: unknown): string | undefined {
  return typeof text === "string" && text !== "" && !text.includes("$") ? text : undefined;
}

/** Entries of a map by their keys, or of a list by their texts or sources. */
function named(value: unknown): Written[] {
  if (!Array.isArray(value)) return Object.keys(recordOf(value)).map((name) => [name, name, name]);
  return value.map((each, at) => {
    const name = isObject(each) ? each["source"] : each;
    return [at, name, recordOf(each)["target"] ?? name];
  });
}

/** Mounts; those of another kind than a volume name nothing. */
function mounted(value: unknown): Written[] {
  return !Array.isArray(value)
    ? []
    : value.map((each, at) => [at, volumeIn(each), mountPointIn(each)]);
}

/** Services in front of an alias or a mode; files add to the lists of others. */
function beforeColon(value: unknown): Written[] {
  return (Array.isArray(value) ? value : []).map((each, at) => {
    const name = typeof each === "string" ? each.split(":")[0] : undefined;
    return [at, name === "container" ? undefined : name, name];
  });
}

/** The service whose namespace a service shares. */
function ofService(value: unknown): Written[] {
  const name = typeof value === "string" ? /^service:(.+)$/s.exec(value)?.[1] : undefined;
  return [["", typeof value === "string" && value.includes("$") ? undefined : name, "/"]];
}

/** The service of the same project that a service extends. */
function extended(value: unknown): Written[] {
  const { file, service } = recordOf(value);
  return [["service", file === undefined ? isObject(value) ? service : value : undefined, "/"]];
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
