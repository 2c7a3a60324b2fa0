import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { parseYaml, tooMuchYaml } from "./bounded_yaml.ts";
import {
  clip,
  type Located,
  type LocatedDocument,
  type LocatedEntry,
  type Position,
} from "./located.ts";
import { DEEPEST } from "./located_json.ts";
import { invalidInput, ProblemSink } from "./problem_sink.ts";
import { yamlMessage } from "./yaml_message.ts";

/** Values one document may have after aliases and merge keys; a bomb has millions. */
const MOST_VALUES = 100_000;
/** Documents one file may have. */
const MOST_DOCUMENTS = 1000;
/** Syntax errors shown of one document: the later ones usually follow from the first. */
const MOST_SYNTAX_ERRORS = 3;

/**
 * Reads a YAML or JSON text (JSON is YAML) of one or more documents and keeps positions and the
 * text of scalars. Merge keys and aliases are resolved; empty documents are left out.
 *
 * Throws `config_invalid` with a position for a syntax error, a duplicate key, an alias that leads
 * nowhere or explodes, nesting deeper than 50 levels, a text that is too large or has too many signs,
 * more than 1000 documents, and when no document remains.
 */
export function parseLocatedYaml(text: string, file: string): LocatedDocument[] {
  refuseUnreadable(text, file);
  const lines = new LineCounter();
  const parsed: Document.Parsed[] = [...parseDocuments(text, lines, file)];
  if (parsed.length > MOST_DOCUMENTS) {
    throw refusal(file, `the file has more than ${MOST_DOCUMENTS} documents`);
  }
  const sinks = parsed.map((_, index) => new ProblemSink(file, { document: index + 1 }));
  const documents: LocatedDocument[] = [];
  for (const [index, document] of parsed.entries()) {
    const sink = sinks[index] ?? new ProblemSink(file);
    reportSyntax(document, lines, sink);
    if (!sink.clean) continue;
    const root = new Converter(sink, lines).document(document);
    if (root.kind !== "null") documents.push({ number: index + 1, root });
  }
  const problems = sinks.flatMap((sink) => sink.problems);
  if (problems.length > 0) throw invalidInput(`the YAML text of ${file}`, problems);
  if (documents.length === 0) throw refusal(file, "the file has no document: it is empty");
  return documents;
}

function refuseUnreadable(text: string, file: string): void {
  const tooMuch = tooMuchYaml(text);
  if (tooMuch !== undefined) throw refusal(file, tooMuch);
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    throw refusal(file, "the file is not text: it contains a zero byte");
  }
}

function refusal(file: string, message: string): Error {
  const sink = new ProblemSink(file, { document: 1 });
  sink.add({ line: 1, column: 1 }, "", message);
  return invalidInput(`the YAML text of ${file}`, sink.problems);
}

function parseDocuments(text: string, lines: LineCounter, file: string): Document.Parsed[] {
  try {
    return parseYaml(text, { lineCounter: lines, merge: true });
  } catch (error) {
    if (error instanceof RangeError) throw refusal(file, "the values are nested too deeply");
    throw refusal(file, "the YAML library cannot read this text");
  }
}

function reportSyntax(document: Document.Parsed, lines: LineCounter, sink: ProblemSink): void {
  const errors = [...document.errors].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const error of errors.slice(0, MOST_SYNTAX_ERRORS)) {
    sink.add(positionOf(error.pos[0], lines), "", syntaxMessage(error));
  }
}

function syntaxMessage(error: YAMLError): string {
  if (error.code === "RESOURCE_EXHAUSTION") return "the values are nested too deeply";
  return yamlMessage(error);
}

function positionOf(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

interface Sized {
  readonly node: Located;
  /** Values inside, aliases counted as often as they are used. */
  readonly size: number;
}

/** Turns one parsed document into located values, anchors in the order of the text. */
class Converter {
  readonly #sink: ProblemSink;
  readonly #lines: LineCounter;
  /** Finished anchors; `undefined` while the anchored value is still being read. */
  readonly #anchors = new Map<string, Sized | undefined>();
  #exploded = false;

  constructor(sink: ProblemSink, lines: LineCounter) {
    this.#sink = sink;
    this.#lines = lines;
  }

  document(document: Document.Parsed): Located {
    return this.#value(document.contents, 0, undefined).node;
  }

  #value(node: unknown, depth: number, fallback: Position | undefined): Sized {
    const at = this.#at(node) ?? fallback;
    if (depth > DEEPEST) return this.#fail(at, "the values are nested too deeply");
    if (this.#exploded) return nothing(at);
    if (isAlias(node)) return this.#alias(node, at);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const sized = this.#fresh(node, depth, at);
    if (anchor !== undefined) this.#anchors.set(anchor, sized);
    return sized;
  }

  #fresh(node: unknown, depth: number, at: Position | undefined): Sized {
    if (isMap(node)) return this.#map(node, depth, at);
    if (isSeq(node)) return this.#list(node, depth, at);
    if (isScalar(node)) return { node: scalar(node, at), size: 1 };
    return nothing(at);
  }

  #alias(node: Alias, at: Position | undefined): Sized {
    const name = clip(node.source, 60);
    if (!this.#anchors.has(node.source)) {
      return this.#fail(
        at,
        isName(name)
          ? `the alias *${name} has no anchor &${name} before it`
          : "an alias has no anchor before it; write a value that begins with * between quotes",
      );
    }
    return this.#anchors.get(node.source) ??
      this.#fail(at, `the alias *${name} stands inside its own anchor`);
  }

  #list(node: YAMLSeq, depth: number, at: Position | undefined): Sized {
    const items: Located[] = [];
    let size = 1;
    for (const item of node.items) {
      const sized = this.#value(item, depth + 1, at);
      items.push(sized.node);
      size = this.#grow(size, sized.size, at);
    }
    return { node: { kind: "list", items, at }, size };
  }

  #map(node: YAMLMap, depth: number, at: Position | undefined): Sized {
    const entries = new Map<string, LocatedEntry>();
    const merged: Located[] = [];
    let size = 1;
    for (const pair of node.items) {
      const keyAt = this.#at(pair.key) ?? at;
      const sized = this.#value(pair.value, depth + 1, keyAt);
      size = this.#grow(size, sized.size, keyAt);
      if (isMergeKey(pair)) merged.push(sized.node);
      else this.#enter(entries, pair, { at: keyAt, value: sized.node });
    }
    for (const source of merged) size = this.#grow(size, this.#merge(entries, source), at);
    return { node: { kind: "map", entries, at }, size };
  }

  #enter(entries: Map<string, LocatedEntry>, pair: Pair, entry: LocatedEntry): void {
    const key = this.#key(pair.key);
    if (key === undefined) {
      this.#sink.add(entry.at, "", "a key must be plain text, not a list, a mapping or nothing");
    } else if (entries.has(key)) {
      this.#sink.add(entry.at, "", `the key ${JSON.stringify(clip(key, 60))} is given twice`);
    } else {
      entries.set(key, entry);
    }
  }

  #key(key: unknown): string | undefined {
    if (isAlias(key)) {
      const target = this.#anchors.get(key.source)?.node;
      return target?.kind === "scalar" ? target.text : undefined;
    }
    if (!isScalar(key)) return undefined;
    const located = scalar(key, undefined);
    if (located.kind !== "scalar") return undefined;
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, { node: located, size: 1 });
    return located.text;
  }

  /** Adds what `source` has and `entries` lacks; returns how many values were looked at. */
  #merge(entries: Map<string, LocatedEntry>, source: Located): number {
    if (this.#exploded) return 0;
    if (source.kind === "map") {
      for (const [key, entry] of source.entries) {
        if (!entries.has(key)) entries.set(key, entry);
      }
      return source.entries.size;
    }
    if (source.kind === "list" && source.items.every((item) => item.kind === "map")) {
      return source.items.reduce((total, item) => total + this.#merge(entries, item), 0);
    }
    this.#sink.add(source.at, "", "a merge key << takes a mapping or a list of mappings");
    return 0;
  }

  #grow(size: number, by: number, at: Position | undefined): number {
    if (size + by > MOST_VALUES && !this.#exploded) {
      this.#exploded = true;
      this.#sink.add(at, "", `aliases make this more than ${MOST_VALUES} values`);
    }
    return Math.min(size + by, MOST_VALUES + 1);
  }

  #fail(at: Position | undefined, message: string): Sized {
    this.#sink.add(at, "", message);
    return nothing(at);
  }

  #at(node: unknown): Position | undefined {
    const known = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
    const offset = known ? node.range?.[0] : undefined;
    return offset === undefined ? undefined : positionOf(offset, this.#lines);
  }
}

function nothing(at: Position | undefined): Sized {
  return { node: { kind: "null", at }, size: 1 };
}

function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.source === "<<";
}

function scalar(node: Scalar, at: Position | undefined): Located {
  const { value } = node;
  if (value === null || value === undefined) return { kind: "null", at };
  const plain = node.type === "PLAIN";
  const text = typeof value === "string" && !plain ? value : node.source ?? String(value);
  const known = typeof value === "number" || typeof value === "boolean";
  return { kind: "scalar", value: known ? value : text, text, plain, at };
}

/** Whether the name of an alias is one; a password that begins with a star is taken for an alias too. */
function isName(text: string): boolean {
  return /^[a-z][a-z_-]*$/i.test(text);
}
