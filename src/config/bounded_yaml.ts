import {
  type Document,
  type DocumentOptions,
  isScalar,
  parseAllDocuments,
  type ParseOptions,
  type SchemaOptions,
  visit,
} from "yaml";

/** Size above which a configuration or a compose file is refused, in bytes. */
export const MOST_BYTES = 256 * 1024;
/** Bytes that a file may have more while it is encrypted: SOPS adds a hundred to each of its values. */
export const MOST_MORE: number = 1024 * 1024;
/** Most characters with a meaning in YAML in one text: each costs some three microseconds. */
const MOST_SIGNS = 20_000;
/** Most levels of nesting, checked before parsing: looking through them takes quadratic time. */
const MOST_LEVELS = 100;
/** Most aliases and anchors of one text: the library searches all anchors for each alias. */
const MOST_ALIASES = 2000;

/** Most values of a text with what aliases and merge keys bring in: a YAML bomb has millions. */
export const MOST_VALUES = 100_000;

/** The fault in the size of a text that was not parsed yet; `undefined` when it is small enough. */
export function tooMuchYaml(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MOST_BYTES) {
    return `the file has ${bytes} bytes, the most that is read is ${MOST_BYTES}`;
  }
  return tooManySigns(text);
}

const SIGNS = new Set([..."\n-?:,[]{}#&*!|>'\"%@`"].map((each) => each.charCodeAt(0)));

/** Number of the characters of a text that have a meaning in YAML. */
export function signsIn(text: string): number {
  let signs = 0;
  for (let at = 0; at < text.length; at++) if (SIGNS.has(text.charCodeAt(at))) signs++;
  return signs;
}

/** Like {@link tooMuchYaml} without the limit of bytes, for texts with long values bounded elsewhere. */
export function tooManySigns(text: string): string | undefined {
  const signs = signsIn(text);
  let aliases = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 38 || code === 42) && beginsAlias(text, at)) aliases++;
  }
  if (signs > MOST_SIGNS) {
    return `the file has ${signs} signs such as colons, commas, quotes and line ends, the most that ` +
      `is read is ${MOST_SIGNS}`;
  }
  if (isTooDeep(text)) return "the values are nested too deeply";
  return aliases > MOST_ALIASES
    ? `the file has ${aliases} anchors and aliases, the most that is read is ${MOST_ALIASES}`
    : undefined;
}

/** True when brackets stay open, or lines are indented, at more than {@link MOST_LEVELS} levels. */
function isTooDeep(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 91 || code === 123) open++;
    else if ((code === 93 || code === 125) && open > 0) open--;
    if (open > MOST_LEVELS) return true;
  }
  return isIndentedTooDeep(text);
}

/** Counts open indentation levels: each line's own, and one more for each `- `, `? ` or `: ` in it. */
function isIndentedTooDeep(text: string): boolean {
  const columns: number[] = [];
  for (let start = 0; start < text.length; start = lineAfter(text, start)) {
    let at = start;
    for (let isMarker = true; isMarker;) {
      while (text[at] === " ") at++;
      while (columns.length > 0 && (columns.at(-1) ?? 0) >= at - start) columns.pop();
      columns.push(at - start);
      if (columns.length > MOST_LEVELS) return true;
      isMarker = /[-?:]/.test(text[at] ?? "") && text[at + 1] === " ";
      if (isMarker) at++;
    }
  }
  return false;
}

function lineAfter(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end + 1;
}

function beginsAlias(text: string, at: number): boolean {
  return /[\s[{,:-]/.test(text[at - 1] ?? " ") && /\S/.test(text[at + 1] ?? " ");
}

/** Options for reading documents, beside the fixed safe ones. */
type YamlOptions = Pick<
  ParseOptions & DocumentOptions & SchemaOptions,
  "lineCounter" | "merge"
>;

/**
 * Parses every document of a text that {@link tooMuchYaml} accepts. Switches off the library's check for
 * duplicate keys, which takes quadratic time (use {@link keyGivenTwice}), and its pretty errors, which
 * take quadratic time too and quote the text, which may hold secrets.
 */
export function parseYaml(text: string, options: YamlOptions = {}): Document.Parsed[] {
  const safe = { logLevel: "silent", prettyErrors: false, uniqueKeys: false } as const;
  return [...parseAllDocuments(text, { ...options, ...safe })] as Document.Parsed[];
}

/** The offset of the first duplicate key of a document; `undefined` without one. */
export function keyGivenTwice(document: Document.Parsed): number | undefined {
  let place: number | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (seen.has(key.value)) {
          place = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return place;
}
