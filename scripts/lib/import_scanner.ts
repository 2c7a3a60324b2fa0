import { type Token, tokenize } from "./tokens.ts";

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
