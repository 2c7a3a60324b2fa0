/**
 * Finds names and their values in texts of unknown kind. Such a text is another's, so each function
 * looks at every character a bounded number of times, whatever the text: a pattern that may begin
 * anywhere and runs on takes quadratic time, and one small file would stop the service. They start from
 * the sign between name and value, and go both ways from it.
 */

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Length below which a value is an ordinary word, whatever its name is: such names are not asked about. */
export const SHORTEST = 6;

/** Characters of a name that are looked at; longer ones end like their last part. */
const LONGEST_NAME = 200;

/** The name that ends at a place; empty when there is none. */
export function nameBefore(text: string, end: number, isPart: (code: number) => boolean): string {
  let start = end;
  while (start > 0 && end - start < LONGEST_NAME && isPart(text.charCodeAt(start - 1))) start--;
  return text.slice(start, end);
}

/** Letters, digits, `_` and `-`. */
function isNamePart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) ||
    code === 95 || code === 45;
}

/** The same and the dot. */
export function isDottedPart(code: number): boolean {
  return code === 46 || isNamePart(code);
}

/** The place of the first character from `from` on that a sticky pattern does not match. */
export function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/**
 * `name=value`, blanks around the sign allowed; a value ends at a blank, a quote, `;`, `&` or `,`, or where
 * the quote ends that it begins with. What stands inside the value of one that `wanted` refuses is looked at as well.
 */
export function assignmentsIn(text: string, wanted: (name: string) => boolean): NamedValue[] {
  const found: NamedValue[] = [];
  const [blanks, value] = [/\s+/y, /"[^"\n]+|'[^'\n]+|[^\s;&,"']+/y];
  const long = /"[^"\n]{6}|'[^'\n]{6}|[^\s;&,"']{6}/y;
  for (let at = text.indexOf("="); at >= 0;) {
    const name = nameBefore(text, blanksBefore(text, at), isDottedPart);
    let next = at + 1;
    if (name !== "") {
      const start = endOf(blanks, text, next);
      // Its whole end is sought for those alone that are skipped then: else it takes quadratic time.
      if (endOf(long, text, start) > start && wanted(name)) {
        next = endOf(value, text, start);
        found.push({ name, value: text.slice(start, next).replace(/^["']/, "") });
      }
    }
    at = text.indexOf("=", next);
  }
  return found;
}

/** `--name value`, `-n value` and `-pvalue` of a command line that is one text. */
export function optionsIn(text: string): NamedValue[] {
  const option =
    /(?<=^|\s)--?([\w-]{1,60})\s{1,9}(?:"([^"\n]+)|'([^'\n]+)|([^\s"';&|-][^\s"';&|]*))/g;
  const apart = [...text.matchAll(option)].map(([, name = "", double, single, plain]) => ({
    name,
    value: double ?? single ?? plain ?? "",
  }));
  const glued = text.matchAll(/(?<=^|\s)-p["']?([^\s"';&|]+)/g);
  return [...apart, ...[...glued].map(([, value = ""]) => ({ name: "p", value }))];
}

/** A name with its value of a text of lines or of JSON. */
export interface Entry extends NamedValue {
  /** Whether a quote or a blank parts them: else it may be an address, an image or a sentence. */
  readonly isApart: boolean;
}

/** A value without a quote before it: how it goes on, and how it begins if it is not {@link SHORTEST}. */
interface PlainValue {
  readonly all: RegExp;
  readonly long: RegExp;
}
/** One of a header in quotes ends with them. */
const IN_QUOTES: PlainValue = { all: /[^\n"']+/y, long: /[^\n"']{6}/y };
/** One of YAML ends with its line. */
const APART: PlainValue = { all: /[^\n,}\]]+/y, long: /[^\n,}\]]{6}/y };
/** One without a blank before it may be anything: it ends at a blank, or is part of one key of YAML. */
const CLOSE: PlainValue = { all: /[^\s"',}\]]+/y, long: /[^\s"',}\]]{6}|[^\n,{}[\]]{6}/y };
const KEY = /[^\n,{}[\]]+/y;

/** Levels of quotes inside quotes that are looked at. */
const DEEPEST = 4;

/**
 * `name: value` of YAML and JSON, also where the quote that ends it is missing, as far as `wanted`
 * wants it; what stands inside another value is looked at as well.
 */
export function entriesIn(text: string, wanted: (name: string) => boolean, depth = 0): Entry[] {
  const found: Entry[] = [];
  const blanks = /[ \t]+/y;
  for (let at = text.indexOf(":"); at >= 0;) {
    const end = beforeQuote(text, at);
    const name = nameBefore(text, end, isNamePart);
    const start = endOf(blanks, text, at + 1);
    const isApart = end < at || start > at + 1;
    // `acme/auth:tag` is an image.
    const isImage = !isApart && text[end - name.length - 1] === "/";
    const quote = text[start];
    let next = at + 1;
    if (name !== "" && (quote === '"' || quote === "'")) {
      next = endOf(quote === '"' ? /(?:[^"\\\n]|\\.)+/y : /[^'\n]+/y, text, start + 1);
      const value = text.slice(start + 1, next);
      if (value.length >= SHORTEST && !isImage && wanted(name)) {
        found.push({ name, value, isApart });
      } else if (value.length >= SHORTEST && depth < DEEPEST) {
        // One by one: more than about 100,000 are more than a call may have arguments.
        for (const each of entriesIn(value, wanted, depth + 1)) found.push(each);
      }
    } else if (name !== "" && !isImage && !/[\s|>&*,{}[\]]/.test(quote ?? " ")) {
      const around = end === at ? text[end - name.length - 1] : undefined;
      const isQuoted = around === '"' || around === "'";
      const plain = isQuoted ? IN_QUOTES : isApart ? APART : CLOSE;
      if (endOf(plain.long, text, start) > start && wanted(name)) {
        next = endOf(plain.all, text, start);
        found.push({ name, value: text.slice(start, next), isApart });
        const before = text[blanksBefore(text, end - name.length) - 1] ?? "\n";
        if (!isApart && /[\n{,[]/.test(before)) {
          // Without its blank all of it is one key of YAML, which messages tell as a whole.
          found.push({ name, value: text.slice(start, endOf(KEY, text, start)), isApart });
        }
      }
    }
    at = text.indexOf(":", next);
  }
  return found;
}

/** The place of a quote, escaped or not, that ends a name before the colon at `at`, or the end of the name. */
function beforeQuote(text: string, at: number): number {
  const end = blanksBefore(text, at);
  if (text[end - 1] !== '"' && text[end - 1] !== "'") return end;
  let quote = end - 1;
  while (text[quote - 1] === "\\") quote--;
  return quote;
}

/** Position at which the blanks before a place begin. */
function blanksBefore(text: string, place: number): number {
  let end = place;
  while (text[end - 1] === " " || text[end - 1] === "\t") end--;
  return end;
}

/** Passwords of URLs: from the user to the first and to the last `@`, as some are not escaped. */
export function urlPasswordsIn(text: string): string[] {
  const found: string[] = [];
  for (let begin = text.indexOf("://"); begin >= 0;) {
    const wordEnd = endOf(/\S+/y, text, begin);
    const word = text.slice(begin, wordEnd);
    const last = word.lastIndexOf("@");
    let isFirst = true;
    for (let at = 0; at >= 0 && at < last;) {
      const user = endOf(/[^\s/:@"'`]+/y, word, at + 3);
      const end = word[user] === ":" ? word.indexOf("@", user + 1) : -1;
      if (end > user + 1 || (end >= 0 && last > end)) {
        found.push(word.slice(user + 1, end));
        // What follows has the same end: one time is enough, and all of them are quadratic.
        if (isFirst) found.push(word.slice(user + 1, last));
        isFirst = false;
      }
      at = word.indexOf("://", Math.max(user, end));
    }
    begin = text.indexOf("://", wordEnd);
  }
  return found;
}

/** Values of assigning lines, `name = value` and `name: value`; also those that stand on the next line. */
export function assignedLines(text: string): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const each of text.split("\n")) {
    const line = each.trim();
    if (line === "") continue;
    if (isOpen) found.push(line);
    const start = endOf(/["\w.-]+/y, line, endOf(/export\s+/y, line, 0));
    const sign = endOf(/\s+/y, line, start);
    isOpen = start > 0 && (line[sign] === "=" || line[sign] === ":");
    const value = isOpen ? line.slice(sign + 1).trim() : "";
    if (value === "") continue;
    isOpen = false;
    found.push(value);
  }
  return found;
}
