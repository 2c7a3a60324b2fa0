import { RE2JS } from "re2js";
import { messageOf } from "../model/mod.ts";
import type { Checked } from "./checked.ts";

/** Most characters of a pattern; its cost grows with its length, and nobody reads longer ones. */
const LONGEST_PATTERN = 1000;

/** A compiled regular expression. */
export interface Pattern {
  /** Whether it matches anywhere in `text`, unless it is anchored. Takes time linear in the text. */
  test(text: string): boolean;
}

/**
 * Compiles a regular expression that somebody else wrote, in the dialect of RE2: no look-around and no
 * back-references, and in exchange no pattern can keep the process busy. Repetitions that would
 * make it huge are refused too.
 */
export function compilePattern(pattern: string): Checked<Pattern> {
  if (pattern.length > LONGEST_PATTERN) {
    return { problem: `expected at most ${LONGEST_PATTERN} characters, found ${pattern.length}` };
  }
  try {
    const compiled = RE2JS.compile(pattern);
    return { value: { test: (text) => compiled.matcher(text).find() } };
  } catch (error) {
    const why = messageOf(error).replace(/^error parsing regexp: /, "");
    return { problem: `expected a regular expression of RE2, found one with ${why}` };
  }
}
