/** A word, a text in quotes or a mark of a TypeScript source, with its line (from 1). */
export interface Token {
  readonly kind: "word" | "string" | "mark";
  readonly text: string;
  readonly line: number;
}

/** Words after which a slash starts a regular expression, though they look like a value. */
const BEFORE_EXPRESSION = new Set(
  "return typeof case in of delete void throw new else do yield await instanceof".split(" "),
);

/**
 * The tokens of a TypeScript source. Comments are left out; of a template only the code in it and a mark
 * for each piece of its text are there, a regular expression is one mark.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  /** Depth of braces at which each open template continues. */
  const templates: number[] = [];
  let braces = 0;
  let line = 1;
  let at = 0;
  const push = (kind: Token["kind"], text: string) => tokens.push({ kind, text, line });
  const advanceTo = (end: number) => {
    for (; at < end; at++) if (source[at] === "\n") line++;
  };
  while (at < source.length) {
    const char = source[at] as string;
    const rest = source.slice(at, at + 2);
    if (rest === "//") advanceTo(endOr(source.indexOf("\n", at), source));
    else if (rest === "/*") advanceTo(endOr(source.indexOf("*/", at + 2), source, 2));
    else if (char === '"' || char === "'") {
      const end = endOfQuoted(source, at, char);
      push("string", source.slice(at + 1, end - 1));
      advanceTo(end);
    } else if (char === "`" || (char === "}" && templates.at(-1) === braces)) {
      if (char === "}") templates.pop();
      const { end, opened } = endOfTemplatePart(source, at + 1);
      if (opened) templates.push(braces);
      push("mark", "`");
      advanceTo(end);
    } else if (char === "/" && startsRegularExpression(tokens.at(-1))) {
      push("mark", "/re/");
      advanceTo(endOfRegularExpression(source, at));
    } else if (/[\w$]/.test(char)) {
      const word = /^[\w$]+/.exec(source.slice(at, at + 200))?.[0] ?? char;
      push("word", word);
      advanceTo(at + word.length);
    } else {
      if (char === "{") braces++;
      if (char === "}") braces--;
      if (!/\s/.test(char)) push("mark", char);
      advanceTo(at + 1);
    }
  }
  return tokens;
}

function endOr(position: number, source: string, length = 0): number {
  return position === -1 ? source.length : position + length;
}

function endOfQuoted(source: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < source.length && source[at] !== quote) at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** End of a template's text from `start`; `opened` when it ended with `${`. */
function endOfTemplatePart(source: string, start: number): { end: number; opened: boolean } {
  let at = start;
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) return { end: at + 2, opened: true };
    at += source[at] === "\\" ? 2 : 1;
  }
  return { end: at + 1, opened: false };
}

function startsRegularExpression(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return BEFORE_EXPRESSION.has(before.text);
  return before.kind === "mark" && !")]}`/re/".includes(before.text);
}

function endOfRegularExpression(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "\n" || (char === "/" && !inClass)) return at + 1;
  }
  return source.length;
}
