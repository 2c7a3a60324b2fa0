import { RE2JS } from "re2js";
import { messageOf } from "../model/mod.ts";
import type { Checked } from "./checked.ts";

/** Most characters of a pattern; its cost grows with its length, and nobody reads longer ones. */
const LONGEST_PATTERN = 1000;

/** Most steps of a pattern when its repetitions are written out; `a{1000}` has a thousand. */
const MOST_STEPS = 1000;
/** Steps that a Unicode class (`\pL`) counts as. */
const UNICODE_STEPS = 100;
/** Ranges that end beyond ASCII: a case-insensitive pattern visits each of their characters. */
const WIDE_RANGE = /-(?:\\|[^\0-\x7f])/;
const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|[^])|\\x\{[^}]*\}|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/g;

/** A compiled regular expression. */
export interface Pattern {
  /** Whether the pattern matches anywhere in `text`, unless anchored. Takes time linear in the text. */
  test(text: string): boolean;
}

/** Steps that further patterns of one text may have together, each of which takes a microsecond. */
export interface StepsLeft {
  steps: number;
}

/**
 * Compiles an untrusted regular expression in the dialect of RE2, without look-around and
 * back-references, so that no pattern can block the process. Refuses repetitions that expand too far,
 * and more steps than are `left`, from which it takes its own.
 */
export function compilePattern(pattern: string, left?: StepsLeft): Checked<Pattern> {
  if (pattern.length > LONGEST_PATTERN) {
    return { problem: `expected at most ${LONGEST_PATTERN} characters, found ${pattern.length}` };
  }
  const steps = stepsOf(pattern);
  if (steps > MOST_STEPS) {
    const why = "repetitions and classes of Unicode make many";
    return { problem: `expected at most ${MOST_STEPS} steps, found ${steps}: ${why}` };
  }
  if (left !== undefined && (left.steps -= steps) < 0) {
    return { problem: "the patterns of all documents have too many steps together" };
  }
  try {
    const compiled = RE2JS.compile(pattern);
    return { value: { test: (text) => compiled.matcher(text).find() } };
  } catch (error) {
    const why = messageOf(error).replace(/^error parsing regexp: /, "");
    return { problem: `expected a regular expression of RE2, found one with ${why}` };
  }
}

/** Estimated steps of a pattern with expanded repetitions, to refuse it before the costly compilation. */
function stepsOf(pattern: string): number {
  const open: number[] = [];
  const folds = /\(\?[a-z-]*i/i.test(pattern);
  let [sum, last] = [0, 0];
  for (const [token, least, most] of pattern.matchAll(TOKEN)) {
    if (token === "(") {
      open.push(sum);
      [sum, last] = [2, 0];
    } else if (token === ")") {
      last = sum;
      sum += open.pop() ?? 0;
    } else if (least !== undefined) {
      const more = last * (Math.max(Number(least), Number(most ?? 0), 1) - 1);
      [sum, last] = [sum + more, last + more];
    } else {
      const classes = token.match(/\\[pP]/g)?.length ?? 0;
      last = token.startsWith("\\Q") ? token.length : 1 + UNICODE_STEPS * classes;
      if (folds && token.startsWith("[") && WIDE_RANGE.test(token)) last += MOST_STEPS;
      sum += last;
    }
  }
  return open.reduce((all, each) => all + each, sum);
}
