/** What a file imports, and where it names a runtime's global object. */
export interface Scan {
  readonly imports: readonly Found[];
  /** Uses of the global `Deno` or `Bun`. */
  readonly globals: readonly Found[];
}

/** A module specifier or the name of a global, with its line (from 1). */
export interface Found {
  readonly text: string;
  readonly line: number;
}

/**
 * Finds the imports of a TypeScript source: static ones, `export … from`, dynamic ones with a
 * literal specifier, and imports in types. Comments, strings, templates and regular expressions are
 * told apart well enough that text in them is never taken for code.
 */
export function scanImports(source: string): Scan {
  const tokens = tokenize(source);
  const imports: Found[] = [];
  const globals: Found[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "word" || tokens[index - 1]?.text === ".") {
      if (isGlobalThisMember(tokens, index)) globals.push(found(token));
      continue;
    }
    if (token.text === "Deno" || token.text === "Bun") globals.push(found(token));
    const specifier = token.text === "import"
      ? specifierOfImport(tokens, index)
      : token.text === "export"
      ? specifierOfExport(tokens, index)
      : undefined;
    if (specifier !== undefined) imports.push(found(specifier));
  }
  return { imports, globals };
}

interface Token {
  readonly kind: "word" | "string" | "mark";
  readonly text: string;
  readonly line: number;
}

function found(token: Token): Found {
  return { text: token.text, line: token.line };
}

function isGlobalThisMember(tokens: readonly Token[], index: number): boolean {
  const { text } = tokens[index] as Token;
  return (text === "Deno" || text === "Bun") && tokens[index - 2]?.text === "globalThis";
}

/** `import "x"`, `import("x")`, `import … from "x"`; nothing for `import.meta`. */
function specifierOfImport(tokens: readonly Token[], index: number): Token | undefined {
  const next = tokens[index + 1];
  if (next?.kind === "string") return next;
  if (next?.text === "(") {
    const argument = tokens[index + 2];
    return argument?.kind === "string" ? argument : undefined;
  }
  return next?.text === "." ? undefined : specifierAfterFrom(tokens, index + 1);
}

/** `export * from "x"`, `export { a } from "x"`, both also with `type`. */
function specifierOfExport(tokens: readonly Token[], index: number): Token | undefined {
  const skip = tokens[index + 1]?.text === "type" ? 2 : 1;
  const start = tokens[index + skip]?.text;
  return start === "*" || start === "{" ? specifierAfterFrom(tokens, index + skip) : undefined;
}

function specifierAfterFrom(tokens: readonly Token[], start: number): Token | undefined {
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index] as Token;
    if (token.kind === "word" && token.text === "from") {
      const next = tokens[index + 1];
      if (next?.kind === "string") return next;
    }
    const partOfClause = token.kind === "word" || "{},*".includes(token.text) ||
      token.kind === "string";
    if (!partOfClause) return undefined;
    // A clause is closed by its brace; anything but `from` behind it is another statement.
    if (token.text === "}" && tokens[index + 1]?.text !== "from") return undefined;
  }
  return undefined;
}

/** Words after which a slash starts a regular expression, though they look like a value. */
const BEFORE_EXPRESSION = new Set(
  "return typeof case in of delete void throw new else do yield await instanceof".split(" "),
);

function tokenize(source: string): Token[] {
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
