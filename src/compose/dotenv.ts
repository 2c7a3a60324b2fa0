/** One variable that a dotenv file sets. */
interface DotenvEntry {
  readonly name: string;
  /** Without quotes and escapes; variables in it are not replaced. */
  readonly value: string;
}

/** The beginning of an entry, up to its value. */
const BEGINNING = /[^\S\n]*(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*[=:][ \t]*/uy;
/** What stands between the quotes of a value; it may have several lines. */
const QUOTED = { "'": /(?:[^'\\]|\\.)*/sy, '"': /(?:[^"\\]|\\.)*/sy };

/**
 * The variables of a dotenv file. It is read to know which texts to hide, so what is doubtful is taken
 * as it stands: compose alone decides what the variables are. Linear in the text.
 */
export function dotenvEntries(text: string): DotenvEntry[] {
  const unified = text.replace(/\r\n?/g, "\n");
  const entries: DotenvEntry[] = [];
  // After a quote that nothing ends, no other one of its kind is ended either.
  const unended = new Set<string>();
  for (let at = 0; at < unified.length;) {
    BEGINNING.lastIndex = at;
    const [beginning = "", name] = BEGINNING.exec(unified) ?? [];
    const start = at + beginning.length;
    const quoted = name === undefined ? undefined : quotedAt(unified, start, unended);
    const end = lineEnd(unified, quoted?.end ?? start);
    const value = quoted?.value ?? withoutComment(unified.slice(start, end));
    if (name !== undefined) entries.push({ name, value });
    at = end + 1;
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
  if (text[end] === quote) return { value: quote === '"' ? unescaped(value) : value, end: end + 1 };
  unended.add(quote);
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** A value without quotes ends before a blank and a `#`, or at the end of its line. */
function withoutComment(text: string): string {
  const comment = text.search(/[ \t]#/);
  return (comment < 0 ? text : text.slice(0, comment)).trimEnd();
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, each: string) => ESCAPES[each] ?? each);
}
