interface DotenvEntry {
  /** Empty for a line without a name, which compose may accept, or quote in an error. */
  readonly name: string;
  /** Without quotes and escapes; not interpolated. */
  readonly value: string;
}

/** Start of an entry, up to its value. */
const BEGINNING = /[^\S\n]*(?:export[^\S\n]+)?([\p{L}\p{N}_.[\]-]+)[^\S\n]*[=:][^\S\n]*/uy;
/** Content of a quoted value, which may have several lines. */
const QUOTED = { "'": /(?:[^'\\]|\\.)*/sy, '"': /(?:[^"\\]|\\.)*/sy };

/** The variables of a dotenv file, for hiding them: doubtful values are taken literally. */
export function dotenvEntries(text: string): DotenvEntry[] {
  const unified = text.replaceAll("\r\n", "\n");
  const entries: DotenvEntry[] = [];
  // If one quote is never closed, no later quote of that kind is closed either.
  const unended = new Set<string>();
  for (let at = 0; at < unified.length;) {
    BEGINNING.lastIndex = at;
    const [beginning = "", name = ""] = BEGINNING.exec(unified) ?? [];
    const start = at + beginning.length;
    const quoted = name === "" ? undefined : quotedAt(unified, start, unended);
    const end = quoted?.end ?? lineEnd(unified, start);
    const value = quoted?.value ?? withoutComment(unified.slice(start, end));
    if (name !== "" || /^\s*[^\s#]/.test(value)) entries.push({ name, value });
    // Text after a quoted value is read like a line of its own.
    at = quoted?.end ?? end + 1;
  }
  return entries;
}

function quotedAt(text: string, at: number, unended: Set<string>) {
  const quote = text[at];
  if ((quote !== "'" && quote !== '"') || unended.has(quote)) return undefined;
  const pattern = QUOTED[quote];
  pattern.lastIndex = at + 1;
  const [value = ""] = pattern.exec(text) ?? [];
  const end = at + 1 + value.length;
  if (text[end] === quote) {
    const plain = quote === '"' ? unescaped(value) : value.replaceAll("\\'", "'");
    return { value: plain, end: end + 1 };
  }
  unended.add(quote);
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** An unquoted value ends before a blank with a `#`, or at the end of its line. */
function withoutComment(text: string): string {
  return text.split(" #", 1).join().trimEnd();
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Resolves the escapes that compose knows; in others it keeps the backslash. */
function unescaped(text: string): string {
  return text.replace(/\\(?:0([0-3][0-7]{2})|([abfnrtv"\\$])|0)/g, (_, octal, each) => {
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
    return each === undefined ? "\\" : ESCAPES[each] ?? each;
  });
}
