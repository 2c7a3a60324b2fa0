import type { Checked } from "./repository_url.ts";

const LONGEST_PATTERN = 1000;
/** Escapes that mean the same in RE2 and JavaScript; of the others only punctuation is safe. */
const SHARED_ESCAPE = /[dDwWsSbBnrtfvx]/;

/**
 * Compiles a `webhook_filter`. The accepted patterns are those that RE2 and JavaScript read alike:
 * a leading `(?i)` (also `s` and `m`), `(?P<name>…)`, `\A` and `\z` are translated; look-around,
 * back-references, `\p`, `\Q` and POSIX classes are refused instead of meaning something else.
 *
 * The expression matches anywhere in its text unless it is anchored; the caller tries the full
 * reference and the short name (interface.md §2.1).
 */
export function compileWebhookFilter(pattern: string): Checked<RegExp> {
  if (pattern.length > LONGEST_PATTERN) {
    return { problem: `expected at most ${LONGEST_PATTERN} characters, found ${pattern.length}` };
  }
  const [lead = "", letters = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const translated = translate(pattern.slice(lead.length));
  if ("problem" in translated) return translated;
  try {
    return { value: new RegExp(translated.value, [...new Set(letters)].join("")) };
  } catch {
    return { problem: "expected a regular expression, and this is not a valid one" };
  }
}

function translate(pattern: string): Checked<string> {
  let result = "";
  let inClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index);
    const piece = inClass ? classPiece(rest) : plainPiece(rest);
    if ("problem" in piece) return piece;
    const { taken, written } = piece.value;
    if (written === "[" && !inClass) inClass = true;
    else if (written === "]") inClass = false;
    result += written;
    index += taken - 1;
  }
  return { value: result };
}

interface Piece {
  readonly taken: number;
  readonly written: string;
}

function plainPiece(rest: string): Checked<Piece> {
  if (rest.startsWith("\\")) return escapePiece(rest, false);
  if (/^\(\?<?[=!]/.test(rest)) return unsupported("look-around");
  if (rest.startsWith("(?P<")) return { value: { taken: 4, written: "(?<" } };
  if (/^\(\?[^:<]/.test(rest)) return unsupported("flags other than a leading (?i), (?s) or (?m)");
  return { value: { taken: 1, written: rest.charAt(0) } };
}

function classPiece(rest: string): Checked<Piece> {
  if (rest.startsWith("[:")) return unsupported("a POSIX class such as [:alpha:]");
  return rest.startsWith("\\")
    ? escapePiece(rest, true)
    : { value: { taken: 1, written: rest.charAt(0) } };
}

function escapePiece(rest: string, inClass: boolean): Checked<Piece> {
  const letter = rest.charAt(1);
  if (!inClass && letter === "A") return { value: { taken: 2, written: "^" } };
  if (!inClass && letter === "z") return { value: { taken: 2, written: "$" } };
  if (/[1-9]/.test(letter)) return unsupported("a back-reference");
  const ordinary = letter === "" || !/[A-Za-z0-9]/.test(letter) || SHARED_ESCAPE.test(letter);
  if (!ordinary) return unsupported(`the escape \\${letter}`);
  return { value: { taken: 2, written: rest.slice(0, 2) } };
}

function unsupported(what: string): { readonly problem: string } {
  return { problem: `${what} is not supported in a webhook filter` };
}
