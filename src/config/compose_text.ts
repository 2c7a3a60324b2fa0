import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node, visit } from "yaml";
import { messageOf, type Problem, recordOf, type StackwrightError } from "../model/mod.ts";
import { keyGivenTwice, MOST_VALUES, parseYaml, tooMuchYaml } from "./bounded_yaml.ts";
import { mergedValues } from "./merged_values.ts";
import { invalidInput } from "./problem_sink.ts";
import {
  type RefuseAt,
  requireSureColon,
  requireSureFolding,
  requireSureWords,
} from "./read_alike.ts";
import { hasAlias, hasMerge, isMergeKey } from "./unsure_paths.ts";
import { yamlMessage } from "./yaml_message.ts";

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

/** A compose file that was read. */
export interface ComposeText {
  readonly file: string;
  /** Its documents, each with its plain value. */
  readonly documents: readonly { readonly document: Document; readonly value: unknown }[];
  readonly lines: LineCounter;
}

/**
 * Reads a compose file, and refuses every text that compose might understand differently.
 *
 * Throws `config_invalid` with a position for a text that is no YAML, or unclear, or too large.
 */
export function readCompose(text: string, file: string): ComposeText {
  const tooMuch = tooMuchYaml(text);
  if (tooMuch !== undefined) throw refusedCompose(file, { line: 1, message: tooMuch });
  for (const [unclear, message] of UNCLEAR) {
    const at = unclear.exec(text);
    if (at === null) continue;
    throw refusedCompose(file, { line: text.slice(0, at.index).split("\n").length, message });
  }
  const lines = new LineCounter();
  const refuse: RefuseAt = (offset, message) => {
    const { line, col } = lines.linePos(offset);
    throw refusedCompose(file, { line: Math.max(1, line), column: Math.max(1, col), message });
  };
  const parsed = parseYaml(text, { merge: true, lineCounter: lines });
  for (const { errors: [error] } of parsed) {
    if (error !== undefined) refuse(error.pos[0], yamlMessage(error));
  }
  requireSureWords(text, refuse);
  let values = 0;
  const documents = parsed.map((document) => {
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
      throw refusedCompose(file, { line: 1, message });
    }
    return { document, value: valueOf(document, file) };
  });
  return { file, documents, lines };
}

/** Whether a compose file may take away what it, or another one, says. */
export function takesBack(text: string): boolean {
  return /!(?:reset|override)\b/.test(text);
}

/** Names of services that a document takes back, such as `db: !reset null`. */
export function resetServices(document: Document): ReadonlySet<string> {
  const services = document.get("services", true);
  const pairs = isMap<Node, Node | null>(services) ? services.items : [];
  return new Set(
    pairs.flatMap(({ key, value }) =>
      value?.tag === "!reset" && isScalar(key) ? [String(key.value)] : []
    ),
  );
}

/** The services of a compose file, each with what tells the line of a key in it. */
export function servicesIn({ documents, lines }: ComposeText) {
  return documents.flatMap(({ document, value }) =>
    Object.entries(recordOf(recordOf(value)["services"])).map(([name, service]) => ({
      name,
      service: recordOf(service),
      lineOf: (...keys: (string | number)[]) =>
        lineOf({ documents: [{ document }], lines }, ["services", name, ...keys]),
    }))
  );
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
    throw refusedCompose(file, { line: 1, message });
  }
}

/** The error for what is wrong in a compose file. */
export function refusedCompose(file: string, problem: Omit<Problem, "file">): StackwrightError {
  return invalidInput(`the compose file ${file}`, [{ file, ...problem }]);
}

/** The line of a key of a compose file; none where a merge brings it. */
export function lineOf(
  { documents, lines }: Pick<ComposeText, "lines"> & {
    readonly documents: readonly Pick<ComposeText["documents"][number], "document">[];
  },
  keys: readonly (string | number)[],
): Pick<Problem, "line" | "column"> {
  for (const { document } of documents) {
    const node = document.getIn(keys, true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return linePlace({ lines }, range[0]);
  }
  return {};
}

/** The line and the column of an offset. */
export function linePlace({ lines }: Pick<ComposeText, "lines">, offset: number) {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
