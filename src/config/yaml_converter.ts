import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { clip } from "../model/mod.ts";
import { MOST_VALUES } from "./bounded_yaml.ts";
import type { Located, LocatedEntry, Position } from "./located.ts";
import { DEEPEST } from "./located_json.ts";
import type { ProblemSink } from "./problem_sink.ts";

/** Characters of a text that count as one more value: aliases repeat them as often as they are used. */
const LONG_TEXT = 64;
/** Most entries of one list or map of a configuration. */
const MOST_ENTRIES = 2000;

/** The line and the column of an offset, both from 1. */
export function positionOf(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

interface Sized {
  readonly node: Located;
  /** Values inside, aliases counted as often as they are used. */
  readonly size: number;
}

/** Turns one parsed document into located values, anchors in the order of the text. */
export class Converter {
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
    if (isScalar(node)) return sizedScalar(node, at);
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
    if (!this.#isShort(node, at)) return nothing(at);
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
    if (!this.#isShort(node, at)) return nothing(at);
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
    this.#isShort({ items: [...entries] }, at);
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

  /** Adds the entries of `source` that `entries` lacks; returns the number of entries compared. */
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
      this.#sink.add(
        at,
        "",
        `aliases make this more than ${MOST_VALUES} values; a long text counts as several`,
      );
    }
    return Math.min(size + by, MOST_VALUES + 1);
  }

  #isShort(
    { items: { length } }: { readonly items: readonly unknown[] },
    at: Position | undefined,
  ): boolean {
    if (length <= MOST_ENTRIES) return true;
    this.#sink.add(at, "", `${length} entries are too many: the most is ${MOST_ENTRIES}`);
    return false;
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

function sizedScalar(node: Scalar, at: Position | undefined): Sized {
  const located = scalar(node, at);
  const { length } = located.kind === "scalar" ? located.text : "";
  return { node: located, size: 1 + Math.floor(length / LONG_TEXT) };
}

/** True for the plain key `<<`. */
function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.source === "<<";
}

/** A scalar with its text as it is written. */
function scalar(node: Scalar, at: Position | undefined): Located {
  const { value } = node;
  if (value === null || value === undefined) return { kind: "null", at };
  const plain = node.type === "PLAIN";
  const text = typeof value === "string" && !plain ? value : node.source ?? String(value);
  const known = typeof value === "number" || typeof value === "boolean";
  return { kind: "scalar", value: known ? value : text, text, plain, at };
}

/** True for a plausible alias name: a password that begins with a star parses as an alias, too. */
function isName(text: string): boolean {
  return /^[a-z][a-z_-]*$/i.test(text);
}
