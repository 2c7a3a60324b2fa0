import { clip, isObject, type JsonObject, recordOf } from "../model/mod.ts";
import { type ComposeText, readCompose, refusedCompose, resetServices } from "./compose_text.ts";
import { tooLongPath } from "./source_path.ts";
import { type UnsurePaths, unsurePaths } from "./unsure_paths.ts";

/** One entry of `include`, as its author wrote it. */
export interface ComposeInclude {
  /** Compose files that are merged; the directory of the first is the base of their paths. */
  readonly paths: readonly string[];
  /** Dotenv files of the include; when empty, compose reads the `.env` in its base. */
  readonly envFiles: readonly string[];
  /** Base of the paths in the included files; empty for the directory of the first one. */
  readonly projectDirectory: string;
}

/** A file that a service cannot do without, and the keys that name it. */
interface NeededFile {
  readonly path: string;
  readonly place: readonly string[];
}

/** What one compose file says of the name of a network or volume that its project has. */
export interface WrittenResource {
  readonly kind: "networks" | "volumes";
  readonly key: string;
  /** The name, where one is written; it may have variables. */
  readonly name?: string;
  readonly external?: boolean;
}

/** All paths that compose reads while it renders one compose file, as their author wrote them. */
export interface ComposePaths {
  /** Names of the services that the file itself has, under whichever profile. */
  readonly services: readonly string[];
  /** Services of the files before it that it takes back with `!reset`. */
  readonly reset: readonly string[];
  /** The networks and volumes that the file itself defines, whichever services use them. */
  readonly resources: readonly WrittenResource[];
  readonly includes: readonly ComposeInclude[];
  /** Files of `extends`. */
  readonly extended: readonly string[];
  /** Files of `env_file` and `label_file`. */
  readonly files: readonly string[];
  /** The entries of `files` without which compose fails under any profile. */
  readonly needed: readonly NeededFile[];
  /** Further paths that compose may read, depending on how it resolves merge keys. */
  readonly unsure: UnsurePaths;
}

/**
 * Characters that no path of a compose file may hold, however they are written there: some readers take
 * them for line ends, or pass over them, and would open another file than was looked at.
 */
// deno-lint-ignore no-control-regex -- these characters are what must be refused
export const UNSURE_IN_PATHS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

/** Most files that one compose file may name. */
const MOST_NAMED = 2000;

/**
 * Finds every path that rendering a compose file reads. It guards what a repository may read, so it
 * refuses every text that compose might understand differently.
 *
 * Throws `config_invalid` with a position for what is no YAML, no compose file, unclear, or too large.
 */
export function composePaths(text: string, file: string): ComposePaths {
  return pathsIn(readCompose(text, file));
}

/** As {@link composePaths}, for a file that was read. */
export function pathsIn({ file, documents }: ComposeText): ComposePaths {
  const found = {
    services: [] as string[],
    reset: [] as string[],
    resources: documents.flatMap(({ value }) => resourcesIn(recordOf(value))),
    includes: [] as ComposeInclude[],
    extended: [] as string[],
    files: [] as string[],
    needed: [] as NeededFile[],
    unsure: { extended: [] as string[], files: [] as string[] },
  };
  for (const { document, value } of documents) {
    const unsure = unsurePaths(document);
    found.unsure.extended.push(...unsure.extended);
    found.unsure.files.push(...unsure.files);
    if (value === null || value === undefined) continue;
    const root = mapOf(value, file, "the file");
    for (const include of itemsOf(root["include"])) found.includes.push(includeOf(include, file));
    const services = root["services"] ?? {};
    const takenBack = resetServices(document);
    for (const [name, value] of Object.entries(mapOf(services, file, "services"))) {
      const isReset = takenBack.has(name);
      const service = isReset ? recordOf(value) : mapOf(value ?? {}, file, `services.${name}`);
      found[isReset ? "reset" : "services"].push(name);
      const base = service["extends"];
      if (isObject(base)) {
        requireKeys(base, EXTENDS_KEYS, file, "extends");
        found.extended.push(...texts(base["file"], file, "extends.file"));
      } else if (Array.isArray(base)) {
        throw refusedCompose(file, { path: "extends", message: "expected a text or a map" });
      }
      for (const [key, keys] of FILE_KEYS) {
        for (const each of itemsOf(service[key])) {
          if (isObject(each)) requireKeys(each, keys, file, key);
          const named = texts(isObject(each) ? each["path"] : each, file, key);
          found.files.push(...named);
          const isOptional = isObject(each) && each["required"] === false;
          if (isOptional || service["profiles"] !== undefined) continue;
          found.needed.push(...named.map((path) => ({ path, place: ["services", name, key] })));
        }
      }
    }
  }
  const { files, extended, includes, unsure } = found;
  const named = includes.reduce(
    (sum, each) => sum + 1 + each.paths.length + each.envFiles.length,
    Math.max(files.length, unsure.files.length) + Math.max(extended.length, unsure.extended.length),
  );
  if (named <= MOST_NAMED) return found;
  const message = `it names ${named} files, the most is ${MOST_NAMED}`;
  throw refusedCompose(file, { line: 1, message });
}

function resourcesIn(root: JsonObject): WrittenResource[] {
  return (["networks", "volumes"] as const).flatMap((kind) =>
    Object.entries(recordOf(root[kind])).map(([key, definition]) => {
      const { name, external } = recordOf(definition);
      // Earlier versions of compose have the name of what is external there.
      const given = isObject(external) ? external["name"] : name;
      return {
        ...{ kind, key },
        ...(typeof given === "string" && given !== "" && { name: given }),
        ...(external !== undefined && { external: external !== false && external !== null }),
      };
    })
  );
}

const INCLUDE_KEYS = ["path", "env_file", "project_directory"];
const EXTENDS_KEYS = ["file", "service"];
/** Keys of services that name files, with those of their entries that are maps. */
const FILE_KEYS = [["env_file", ["path", "required", "format"]], ["label_file", []]] as const;

function includeOf(include: unknown, file: string): ComposeInclude {
  if (!isObject(include)) {
    return { paths: namedBy(include, file, "include"), envFiles: [], projectDirectory: "" };
  }
  // Compose ignores the case of these keys, and ignores unknown ones.
  requireKeys(include, INCLUDE_KEYS, file, "include");
  const [projectDirectory = "", ...more] = texts(
    include["project_directory"],
    file,
    "include.project_directory",
  );
  if (more.length > 0) {
    throw refusedCompose(file, { path: "include.project_directory", message: "expected one path" });
  }
  return {
    paths: namedBy(include["path"], file, "include.path"),
    envFiles: texts(include["env_file"], file, "include.env_file"),
    projectDirectory,
  };
}

/**
 * Refuses other keys than `keys` in a map that names files: what is a map here may be a text for compose,
 * such as `[x:]` for some of its versions.
 */
function requireKeys(map: JsonObject, keys: readonly string[], file: string, what: string): void {
  const unknown = Object.keys(map).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  const message = keys.length === 0
    ? "expected a path as text"
    : `only ${keys.join(", ")} may stand there, written like that`;
  throw refusedCompose(file, { path: `${what}.${clip(unknown, 100)}`, message });
}

/** Files that an include names. Compose takes the working directory for an empty name. */
function namedBy(value: unknown, file: string, what: string): string[] {
  const named = texts(value, file, what);
  if (named.length > 0 && named.length === itemsOf(value).length) return named;
  throw refusedCompose(file, { path: what, message: "expected the path of a file" });
}

/** The texts of a value that is a text or a list of texts. Refuses every other value. */
function texts(value: unknown, file: string, what: string): string[] {
  return itemsOf(value).flatMap((each) => {
    if (each === null || each === undefined) return [];
    if (typeof each === "string" && UNSURE_IN_PATHS.test(each)) {
      throw refusedCompose(file, {
        path: what,
        message: "a path must not hold control characters",
      });
    }
    const tooLong = typeof each === "string" ? tooLongPath(each) : undefined;
    if (tooLong !== undefined) throw refusedCompose(file, { path: what, message: tooLong });
    if (typeof each === "string") return each === "" ? [] : [each];
    throw refusedCompose(file, { path: what, message: "expected a path as text" });
  });
}

function mapOf(value: unknown, file: string, what: string): JsonObject {
  if (isObject(value)) return value;
  throw refusedCompose(file, { path: what, message: "expected a map" });
}

/** The items of a list; a single value counts as a list of one. */
function itemsOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
