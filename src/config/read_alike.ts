/** Texts that parsers of YAML read differently: our library, and those of compose's versions. */
import { isScalar, Lexer, type Node } from "yaml";

/** Refuses a text, by throwing, because of a fault at an offset in it. */
export type RefuseAt = (offset: number, message: string) => never;

/** Control characters that the lexer puts between what it reads: they are no part of the text. */
const BEFORE_SCALAR = "\x1f";
const BETWEEN = ["\x02", "\x18", BEFORE_SCALAR];

/** Names of anchors and aliases to all parsers: some end them at a colon. */
const NAMED = /^[&*][0-9A-Za-z_-]+$/;
/** Tags to all parsers: in some a comma or a bracket goes on with them. */
const TAG = /^!(?:[a-z]*|![a-z]+|<[a-z:.,0-9]+>)$/;
/** Signs of a key or a value to some parsers, within brackets. */
const SIGN_TO_SOME = /^:|[?]/;

/**
 * Refuses texts that parsers divide into different words, such as `{?env_file: x}`, `&a:x` and
 * `!a,x`: to some these name a file. A list of what is allowed, since versions of compose have four
 * parsers.
 */
export function requireSureWords(text: string, refuse: RefuseAt): void {
  const words = wordsOf(text);
  words.forEach(({ at, word, kind, depth }, index) => {
    const behind = words[index + 1]?.word[0] ?? "\n";
    if (kind === "plain") {
      if (depth === 0 || !SIGN_TO_SOME.test(word)) return;
      refuse(
        at,
        "the text has a ?, or begins with a colon, within brackets: write it between quotes",
      );
    } else if (/^[&*]/.test(word)) {
      const isEnd = /\s/.test(behind) || word[0] === "*" && /[,\]}]/.test(behind);
      if (isEnd && NAMED.test(word)) return;
      refuse(
        at,
        "an anchor or alias has a name of letters, digits, - and _, and a blank behind it",
      );
    } else if (word[0] === "!") {
      if (/\s/.test(behind) && TAG.test(word)) return;
      refuse(at, "a tag has a blank behind it, and no other signs: write the value between quotes");
    } else if (word[0] === "%" && !/^%YAML 1\.[12]\s*$/.test(word)) {
      refuse(at, "a directive is not supported");
    }
  });
}

/** A word of a text as the lexer reads it. */
interface Word {
  /** Offset in the text. */
  readonly at: number;
  readonly word: string;
  /** Texts without quotes; texts in blocks; or signs, quoted texts, comments and blanks. */
  readonly kind: "plain" | "block" | "sign";
  /** Number of brackets that are open around it. */
  readonly depth: number;
}

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let [at, depth, isText, isBlock] = [0, 0, false, false];
  for (const word of new Lexer().lex(text)) {
    if (!isText && BETWEEN.includes(word)) {
      isText = word === BEFORE_SCALAR;
      continue;
    }
    const kind = !isText ? "sign" : isBlock ? "block" : "plain";
    if (word !== "") words.push({ at, word, kind, depth });
    if (kind === "sign") {
      if (word === "[" || word === "{") depth++;
      if ((word === "]" || word === "}") && depth > 0) depth--;
      if (/^[|>]/.test(word)) isBlock = true;
    } else isBlock = false;
    isText = false;
    at += word.length;
  }
  return words;
}

/** Refuses `[x:]`: a map with a key for us and for some versions of compose, a text for others. */
export function requireSureColon({ range }: Node, text: string, refuse: RefuseAt): void {
  const [at = 0, end = 0] = range ?? [];
  if (!/^[ \t]*:[,\]}]/.test(text.slice(end, end + 100))) return;
  refuse(at, "a colon at the end of an entry of a list: write it between quotes");
}

/** An end of a line that is escaped, before an empty line. */
const ESCAPED_BEFORE_EMPTY = /\\\r?\n[ \t]*\r?\n/;

/** Refuses a text in double quotes of which parsers disagree whether it contains a line end. */
export function requireSureFolding(node: Node, text: string, refuse: RefuseAt): void {
  if (!isScalar(node) || node.type !== "QUOTE_DOUBLE") return;
  const [from = 0, to = 0] = node.range ?? [];
  if (!ESCAPED_BEFORE_EMPTY.test(text.slice(from, to))) return;
  refuse(from, "an empty line follows an escaped line end: take out one of them");
}
