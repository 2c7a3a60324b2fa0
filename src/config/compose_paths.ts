import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, visit } from "yaml";
import {
  isObject,
  type JsonObject,
  messageOf,
  type Problem,
  type StackwrightError,
} from "../model/mod.ts";
import { keyGivenTwice, MOST_VALUES, parseYaml, tooMuchYaml } from "./bounded_yaml.ts";
import { mergedValues } from "./merged_values.ts";
import { invalidInput } from "./problem_sink.ts";
import { hasAlias, hasMerge, isMergeKey, type UnsurePaths, unsurePaths } from "./unsure_paths.ts";
import {
  type RefuseAt,
  requireSureColon,
  requireSureFolding,
  requireSureWords,
} from "./read_alike.ts";
import { yamlMessage } from "./yaml_message.ts";

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

/** All paths that compose reads while it renders one compose file, as their author wrote them. */
export interface ComposePaths {
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

/** Tags that every YAML parser reads alike, and those of compose itself. */
const TAGS =
  /^(?:!|!reset|!override|tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq|timestamp))$/;
/** Line ends of YAML 1.1 but not 1.2: they end a comment for compose, but not for our parser. */
// deno-lint-ignore no-control-regex -- these characters are what must be refused
const OTHER_LINE_ENDS = /\r(?!\n)|[\u0000\u0085\u2028\u2029]/;
/** Characters that make compose read a text differently from us, with the message of the refusal. */
const UNCLEAR = [
  [OTHER_LINE_ENDS, "a line end that is neither LF nor CRLF"],
  // At the beginning of a line compose drops a byte order mark; other parsers make it part of the key.
  [/\ufeff/, "a byte order mark that is not the first character of the file"],
] as const;

/**
 * Finds every path that rendering a compose file reads. It guards what a repository may read, so it
 * refuses every text that compose might understand differently.
 *
 * Throws `config_invalid` with a position for a text that is no YAML, or no compose file, or unclear,
 * or too large.
 */
export function composePaths(text: string, file: string): ComposePaths {
  const found = {
    includes: [] as ComposeInclude[],
    extended: [] as string[],
    files: [] as string[],
    needed: [] as NeededFile[],
    unsure: { extended: [] as string[], files: [] as string[] },
  };
  for (const { document, unsure } of documentsOf(text, file)) {
    found.unsure.extended.push(...unsure.extended);
    found.unsure.files.push(...unsure.files);
    if (document === null || document === undefined) continue;
    const root = mapOf(document, file, "the file");
    for (const include of itemsOf(root["include"])) found.includes.push(includeOf(include, file));
    const services = root["services"] ?? {};
    for (const [name, value] of Object.entries(mapOf(services, file, "services"))) {
      const service = mapOf(value ?? {}, file, `services.${name}`);
      const base = service["extends"];
      if (isObject(base)) {
        requireKeys(base, EXTENDS_KEYS, file, "extends");
        found.extended.push(...texts(base["file"], file, "extends.file"));
      } else if (Array.isArray(base)) {
        throw refused(file, { path: "extends", message: "expected a text or a map" });
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
  throw refused(file, { line: 1, message });
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
    throw refused(file, { path: "include.project_directory", message: "expected one path" });
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
  throw refused(file, { path: `${what}.${unknown.slice(0, 100)}`, message });
}

/** A document as plain values, and the paths that other readings of its merge keys would give. */
interface ReadDocument {
  readonly document: unknown;
  readonly unsure: UnsurePaths;
}

function documentsOf(text: string, file: string): ReadDocument[] {
  const tooMuch = tooMuchYaml(text);
  if (tooMuch !== undefined) throw refused(file, { line: 1, message: tooMuch });
  for (const [unclear, message] of UNCLEAR) {
    const at = unclear.exec(text);
    if (at === null) continue;
    throw refused(file, { line: text.slice(0, at.index).split("\n").length, message });
  }
  const lines = new LineCounter();
  const refuse: RefuseAt = (offset, message) => {
    const { line, col } = lines.linePos(offset);
    throw refused(file, { line: Math.max(1, line), column: Math.max(1, col), message });
  };
  const documents = parseYaml(text, { merge: true, lineCounter: lines });
  for (const { errors: [error] } of documents) {
    if (error !== undefined) refuse(error.pos[0], yamlMessage(error));
  }
  requireSureWords(text, refuse);
  let values = 0;
  return documents.map((document) => {
    const twice = keyGivenTwice(document);
    if (twice !== undefined) refuse(twice, "not valid YAML: a key is given twice");
    visit(document, {
      Node: (_key, node) => {
        requireKnownTag(node, refuse);
        requireSureFolding(node, text, refuse);
      },
      Pair: (_key, { key, value }, path) => {
        requirePlainKey(key as WrittenKey | null, refuse);
        const isEmpty = value === null || isScalar(value) && value.value === null;
        if (isSeq(path.at(-2)) && isEmpty) requireSureColon(key as Node, text, refuse);
      },
    });
    requireSureInclude(document, refuse);
    values += mergedValues(document);
    if (values > MOST_VALUES) {
      const message =
        "its merge keys << bring in too much: with all that they bring in, it has more " +
        `than ${MOST_VALUES} values`;
      throw refused(file, { line: 1, message });
    }
    return { document: valueOf(document, file), unsure: unsurePaths(document) };
  });
}

/** Refuses includes that depend on a merge key, whose result differs between parsers. */
function requireSureInclude(document: Document, refuse: RefuseAt): void {
  const { contents } = document;
  if (!isMap(contents)) return;
  const isMergedAtTop = contents.items.some(({ key }) => isMergeKey(key));
  visit(document, {
    Pair(_at, { key, value }, path) {
      if (!isScalar(key) || key.value !== "include") return;
      // Below the root `include` is an ordinary name, unless a merge moves it to the root. There it stands
      // once: looking through the whole document for each of thousands would take very long.
      const isAtTop = path.at(-1) === contents;
      const isUnsure = () => hasMerge(value) || hasAlias(value) && hasMerge(contents);
      if (!isMergedAtTop && !(isAtTop && isUnsure())) return;
      refuse(key.range?.[0] ?? 0, "include must not depend on a merge key <<: write it out");
    },
  });
}

/** A key as it was written. */
interface WrittenKey {
  readonly value?: unknown;
  readonly type?: string;
  readonly tag?: string;
  readonly range?: readonly number[];
}

function requireKnownTag({ tag, range }: Node, refuse: RefuseAt): void {
  if (tag === undefined || TAGS.test(tag)) return;
  const shown = /^[!a-z0-9.,:/]*[!:]([a-z]+)$/i.exec(tag)?.[0];
  const message = shown === undefined
    ? "a tag is not supported; write a value that begins with ! between quotes"
    : `the tag ${shown} is not supported`;
  refuse(range?.[0] ?? 0, message);
}

/**
 * Refuses keys that parsers read differently: quoted or tagged merge keys, other tagged keys, and
 * aliases, which may hide a duplicate.
 */
function requirePlainKey(key: WrittenKey | null, refuse: RefuseAt): void {
  if (key === null) return;
  const offset = key.range?.[0] ?? 0;
  if (key.value === "<<" && (key.type !== "PLAIN" || key.tag !== undefined)) {
    refuse(offset, "write the merge key << without quotes and tag");
  }
  if (!isScalar(key)) refuse(offset, "a key must be a plain text, not an alias, a list or a map");
  requireKnownTag(key as Node, refuse);
  if (key.tag !== undefined) refuse(offset, "write the key without a tag");
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // The library quotes an unresolved alias, which may be a password that begins with a star.
    const isUnknown = error instanceof ReferenceError && /^Unresolved alias/.test(error.message);
    const message = isUnknown
      ? "an alias has no anchor before it; write a value that begins with * between quotes"
      : `its aliases cannot be resolved: ${messageOf(error)}`;
    throw refused(file, { line: 1, message });
  }
}

function refused(file: string, problem: Omit<Problem, "file">): StackwrightError {
  return invalidInput(`the compose file ${file}`, [{ file, ...problem }]);
}

/** Files that an include names. Compose takes the working directory for an empty name. */
function namedBy(value: unknown, file: string, what: string): string[] {
  const named = texts(value, file, what);
  if (named.length > 0 && named.length === itemsOf(value).length) return named;
  throw refused(file, { path: what, message: "expected the path of a file" });
}

/** The texts of a value that is a text or a list of texts. Refuses every other value. */
function texts(value: unknown, file: string, what: string): string[] {
  return itemsOf(value).flatMap((each) => {
    if (each === null || each === undefined) return [];
    if (typeof each === "string" && UNSURE_IN_PATHS.test(each)) {
      throw refused(file, { path: what, message: "a path must not hold control characters" });
    }
    if (typeof each === "string") return each === "" ? [] : [each];
    throw refused(file, { path: what, message: "expected a path as text" });
  });
}

function mapOf(value: unknown, file: string, what: string): JsonObject {
  if (isObject(value)) return value;
  throw refused(file, { path: what, message: "expected a map" });
}

/** The items of a list; a single value counts as a list of one. */
function itemsOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
