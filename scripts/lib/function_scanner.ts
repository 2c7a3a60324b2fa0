import { type Token, tokenize } from "./tokens.ts";

/** A function of a source: its name or what stands before its parameters, its first line, and its length. */
export interface FunctionFound {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/**
 * Finds the functions of a formatted TypeScript source, with a body in braces or an expression for one:
 * declarations, methods, arrows. Good enough to measure them, not to understand them: parameters are in
 * parentheses, as the formatter puts them, and a type of a function counts as one.
 */
export function scanFunctions(source: string): FunctionFound[] {
  const tokens = tokenize(source);
  const closers = matchingBrackets(tokens);
  const functions: FunctionFound[] = [];
  for (const [open, close] of closers) {
    if (tokens[open]?.text !== "(") continue;
    const before = tokens[open - 1];
    if (before !== undefined && CONTROL.has(before.text)) continue;
    // A function that another one returns: its type stands in that one's head.
    if (isMark(tokens, open - 1, ":") && isMark(tokens, open - 2, ")")) continue;
    const end = tokens[endOfBody(tokens, closers, close) ?? -1];
    const start = before?.kind === "word" ? before : tokens[open];
    if (end === undefined || start === undefined) continue;
    const { line, text } = start;
    functions.push({ name: text === "(" ? "a function" : text, line, lines: end.line - line + 1 });
  }
  return functions;
}

/** Words whose parentheses are followed by a block that is no function's. */
const CONTROL = new Set("if for while switch catch with await".split(" "));

/** Marks and words after which a brace opens a type, not a body. */
const BEFORE_TYPE = new Set(": | & ? is asserts keyof readonly".split(" "));

const OPENING = "([{";
const CLOSING = ")]}";

/** The position of each opening bracket with that of its closing one. */
function matchingBrackets(tokens: readonly Token[]): Map<number, number> {
  const closers = new Map<number, number>();
  const open: number[] = [];
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== "mark") continue;
    if (OPENING.includes(text)) open.push(index);
    else if (CLOSING.includes(text)) closers.set(open.pop() ?? index, index);
  }
  return closers;
}

type Closers = ReadonlyMap<number, number>;

/** Where the body ends whose parameters end at `close`; nothing when these were no parameters. */
function endOfBody(tokens: readonly Token[], closers: Closers, close: number): number | undefined {
  const next = close + 1;
  if (isMark(tokens, next, "{")) return closers.get(next);
  if (isArrow(tokens, next)) return endOfArrow(tokens, closers, next + 2);
  if (!isMark(tokens, next, ":")) return undefined;
  let depth = 0;
  for (let at = next + 1; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as Token;
    if (kind !== "mark") continue;
    if (isArrow(tokens, at)) {
      // Behind a parenthesis it is of a function that is returned.
      const isBody = depth === 0 && !isMark(tokens, at - 1, ")");
      if (isBody) return endOfArrow(tokens, closers, at + 2);
      at++;
    } else if (text === "<") depth++;
    else if (text === ">") depth--;
    else if (OPENING.includes(text)) {
      const isBody = text === "{" && depth === 0 && !BEFORE_TYPE.has(tokens[at - 1]?.text ?? "");
      if (isBody) return closers.get(at);
      at = closers.get(at) ?? tokens.length;
    } else if (CLOSING.includes(text) || text === ";" || text === "=") return undefined;
    else if (text === "," && depth === 0) return undefined;
  }
  return undefined;
}

/** Where the body of an arrow ends: its block, or an expression up to what closes or separates it. */
function endOfArrow(tokens: readonly Token[], closers: Closers, start: number): number | undefined {
  if (isMark(tokens, start, "{")) return closers.get(start);
  for (let at = start; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as Token;
    if (kind !== "mark") continue;
    if (OPENING.includes(text)) at = closers.get(at) ?? tokens.length;
    else if (CLOSING.includes(text) || text === ";" || text === ",") return at - 1;
    // Of a type, whose list of types it closes; what compares is measured up to there.
    else if (text === ">" && !isArrow(tokens, at - 1)) return at - 1;
  }
  return tokens.length - 1;
}

function isMark(tokens: readonly Token[], at: number, text: string): boolean {
  return tokens[at]?.kind === "mark" && tokens[at].text === text;
}

function isArrow(tokens: readonly Token[], at: number): boolean {
  return isMark(tokens, at, "=") && isMark(tokens, at + 1, ">");
}
