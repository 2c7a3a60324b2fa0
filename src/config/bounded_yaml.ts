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
/**
 * Signs with a meaning in YAML that one text may have. They are what parsing costs: about three
 * microseconds each, in which this process does nothing else. A line of a compose file has three or four.
 */
const MOST_SIGNS = 20_000;
/** Levels of nesting before anything is parsed: with thousands of them, looking at each takes quadratic time. */
const MOST_LEVELS = 200;
/** Aliases and anchors one text may have: each alias is looked for among all anchors. */
const MOST_ALIASES = 2000;

/** The fault in the size of a text, before anything parses it; `undefined` when nothing is. */
export function tooMuchYaml(text: string): string | undefined {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MOST_BYTES) {
    return `the file has ${bytes} bytes, the most that is read is ${MOST_BYTES}`;
  }
  return tooManySigns(text);
}

const SIGNS = new Set([..."\n-?:,[]{}#&*!|>'\"%@`"].map((each) => each.charCodeAt(0)));

/** The same for texts whose bytes are bounded otherwise, since most of theirs are in long values. */
export function tooManySigns(text: string): string | undefined {
  let signs = 0;
  let aliases = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (!SIGNS.has(code)) continue;
    signs++;
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

/** Columns at which something begins around a line: its own indentation, and each `- ` before it. */
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

/** Options that the documents of a text are read with, beside those that are safe. */
type YamlOptions = Pick<
  ParseOptions & DocumentOptions & SchemaOptions,
  "lineCounter" | "merge"
>;

/**
 * Parses every document of a text that {@link tooMuchYaml} has nothing against. Without the library's
 * own check for keys that are given twice, which takes quadratic time ({@link keyGivenTwice} does the
 * same), and without its pretty errors, which do so too and quote the text, which may hold secrets.
 */
export function parseYaml(text: string, options: YamlOptions = {}): Document.Parsed[] {
  const safe = { logLevel: "silent", prettyErrors: false, uniqueKeys: false } as const;
  return [...parseAllDocuments(text, { ...options, ...safe })] as Document.Parsed[];
}

/** The offset of the first key of a document that its map had before; `undefined` without one. */
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
