import { Buffer } from "node:buffer";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLSeq,
} from "yaml";
import { parseYaml } from "../../config/mod.ts";
import { jsonForYaml } from "../../model/mod.ts";
import { checkedScalar } from "./checked_scalar.ts";
import { isSopsMetadata } from "./metadata.ts";
import {
  commentText,
  ENCRYPTED_COMMENT,
  type PlainValue,
  replaced,
  type Replacement,
  SopsFormatError,
  type SopsLeaf,
  type SopsText,
} from "./sops_text.ts";

interface Place extends SopsLeaf {
  readonly node: Scalar;
  /** The list that has it as an item. */
  readonly list: YAMLSeq | undefined;
}

/** Takes a YAML file apart; `undefined` without metadata. Only encrypted scalars are replaced. */
export function readYamlText(text: string): SopsText | undefined {
  const documents = parse(text);
  const metadata = documents?.map((each) => metadataOf(each)).find((each) => each !== undefined);
  if (documents === undefined || metadata === undefined) return undefined;
  if (isSopsMetadata(metadata)) requireOneReading(text, documents);
  const places = documents.flatMap((each) => [...scalarsOf(each.contents, [])]).map((each) => ({
    ...each,
    mayBeComment: isPlainItem(text, each),
  }));
  const comments = commentsOf(text, places);
  return {
    format: "yaml",
    metadata,
    leaves: places,
    comments,
    write(values, plainComments) {
      const gone = new Set<unknown>(
        places.filter((_, index) => values[index]?.type === "comment").map(({ node }) => node),
      );
      const replacements = [
        ...documents.flatMap((each) => withoutMetadata(text, each)),
        ...places.flatMap((place, index) => {
          const value = values[index];
          if (value === undefined) return [];
          const { start, end, text: next } = replacement(text, place.node, value);
          if (value.type !== "comment") return [{ start, end, text: next }];
          const empty = isEmptied(place, gone) ? " [] " : "";
          return [{ start: start - DASH.length, end, text: empty + next }];
        }),
      ];
      const free = (at: number) => !replacements.some((each) => at >= each.start && at < each.end);
      const changed = comments.flatMap(({ start, end }, index) => {
        const plain = plainComments[index];
        return free(start) ? [{ start, end, text: plain === undefined ? "#" : `#${plain}` }] : [];
      });
      return Buffer.from(replaced(text, [...replacements, ...changed]), "utf8");
    },
  };
}

function parse(text: string): Document.Parsed[] | undefined {
  try {
    const documents = parseYaml(text);
    return documents.some((each) => each.errors.length > 0) ? undefined : documents;
  } catch {
    return undefined;
  }
}

/** Ends of lines to readers of YAML 1.1, as the sops program is one, and a mark that they pass over. */
const OTHER_BREAKS = /[\u0085\u2028\u2029\ufeff]|\r(?!\n)/;

/**
 * Refuses what the sops program reads otherwise than we do: what is a comment here are further keys to it,
 * it knows metadata of the first document alone, passes over tags of lists and maps, and ends the name of
 * an anchor elsewhere.
 */
function requireOneReading(text: string, documents: readonly Document.Parsed[]): void {
  const first = documents.map(metadataPair)[0]?.value as Node | undefined;
  let isPlain = first !== undefined && !OTHER_BREAKS.test(text);
  visit(first ?? null, {
    Node: (_key, node) =>
      void (isPlain &&= (node.tag ?? ("anchor" in node ? node.anchor : "")) === ""),
  });
  if (isPlain) return;
  throw new SopsFormatError(
    "it has an unusual line break, a tag in its metadata, or no metadata in its first document, " +
      "which SOPS never writes",
  );
}

function metadataPair(document: Document.Parsed): Pair | undefined {
  const { contents } = document;
  if (!isMap(contents)) return undefined;
  return contents.items.find((pair) => keyOf(pair) === "sops") as Pair | undefined;
}

function metadataOf(document: Document.Parsed): Record<string, unknown> | undefined {
  const value = metadataPair(document)?.value;
  if (!isMap(value)) return undefined;
  try {
    return value.toJS(document, { maxAliasCount: 0 }) as Record<string, unknown>;
  } catch {
    // The sops program follows them: another document's metadata must not be taken for these.
    throw new SopsFormatError("its metadata has an alias, which SOPS never writes");
  }
}

function keyOf(pair: Pair): string {
  const { key } = pair;
  return isScalar(key) ? key.source ?? String(key.value) : "";
}

/** Every scalar below a node in reading order, but null and the metadata. */
function* scalarsOf(node: unknown, path: readonly string[], list?: YAMLSeq): Generator<Place> {
  if (isMap(node)) {
    for (const pair of node.items) {
      const key = keyOf(pair);
      if (isAlias(pair.key) || (path.length === 0 && key === "<<")) {
        throw new SopsFormatError("it has an alias or << as a key, which SOPS never writes");
      }
      if (path.length === 0 && key === "sops") continue;
      yield* scalarsOf(pair.value, [...path, key]);
    }
  } else if (isSeq(node)) {
    for (const item of node.items) yield* scalarsOf(item, path, node);
  } else if (isAlias(node)) {
    throw new SopsFormatError(`it has the alias *${node.source}, which SOPS never writes`);
  } else if (isScalar(node)) {
    const checked = checkedScalar(node);
    if (checked === undefined) return;
    const text = typeof node.value === "string" ? node.value : undefined;
    yield { path, text, checked, node, list };
  }
}

const DASH = "- ";

/** True for an item that stands behind its dash as SOPS writes it. */
function isPlainItem(text: string, { node, list }: Place): boolean {
  const [start] = rangeOf(node);
  const isItem = list !== undefined && list.flow !== true;
  return isItem && /(?:^|\s)- $/.test(text.slice(Math.max(0, start - DASH.length - 1), start));
}

/** True for the first item of a list of which nothing is left. */
function isEmptied({ node, list }: Place, gone: ReadonlySet<unknown>): boolean {
  return list?.items[0] === node && list.items.every((each) => gone.has(each));
}

function replacement(text: string, node: Scalar, value: PlainValue): Replacement {
  const [start, end] = rangeOf(node);
  const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  const endsLine = isBlock && text[end - 1] === "\n";
  return { start, end, text: spelled(value) + (endsLine ? "\n" : "") };
}

/**
 * Texts are always written in double quotes: YAML 1.1 and 1.2 disagree on what a bare word means,
 * and every program must read what was encrypted.
 */
function spelled({ type, bytes }: PlainValue): string {
  if (type === "comment") return `#${commentText(bytes) ?? ""}`;
  const text = Buffer.from(bytes).toString("utf8");
  if (type === "int" || type === "float" || type === "time") return text;
  if (type === "bool") return text.toLowerCase();
  const isText = Buffer.from(text, "utf8").equals(bytes);
  if (!isText) return `!!binary ${Buffer.from(bytes).toString("base64")}`;
  return jsonForYaml(text);
}

function rangeOf(node: Node): readonly [number, number, number] {
  if (node.range === null || node.range === undefined) {
    throw new SopsFormatError("it holds a value without a place");
  }
  return node.range;
}

/** Takes the whole lines of the metadata out; a map that held nothing else stays a map. */
function withoutMetadata(text: string, document: Document.Parsed): Replacement[] {
  const pair = metadataPair(document);
  const { contents } = document;
  if (pair === undefined || !isMap(contents)) return [];
  if (contents.flow === true) throw new SopsFormatError("it is written as one flow mapping");
  const [keyStart] = rangeOf(pair.key as Node);
  const [, , end] = rangeOf(pair.value as Node);
  const start = text.lastIndexOf("\n", keyStart - 1) + 1;
  return [{ start, end, text: contents.items.length === 1 ? "{}\n" : "" }];
}

const ROOT: readonly string[] = [];

/** Encrypted comments, with the maps around the values next to them. */
function commentsOf(text: string, places: readonly Place[]) {
  const pattern = new RegExp(`#[ \\t]*${ENCRYPTED_COMMENT.source}`, "g");
  const prefixesOf = new Map<readonly string[], string[][]>();
  return [...text.matchAll(pattern)].flatMap((match) => {
    const start = match.index;
    const next = places.findIndex((each) => rangeOf(each.node)[1] > start);
    const after = places[next];
    if (after !== undefined && rangeOf(after.node)[0] < start) return [];
    const before = places.at(next < 0 ? -1 : next - 1);
    const paths = [after, next === 0 ? undefined : before].flatMap((each) =>
      prefixesOf.getOrInsertComputed(each?.path ?? ROOT, prefixes)
    );
    return [{ start, end: start + match[0].length, text: match[0].slice(1).trim(), paths }];
  });
}

function prefixes(path: readonly string[]): string[][] {
  return [...path, ""].map((_, length) => path.slice(0, length)).reverse();
}
