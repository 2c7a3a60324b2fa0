/** Texts that parsers of YAML read differently: our library, and those of compose's versions. */
import { isCollection, isScalar, type Node } from "yaml";

/** Refuses a text, by throwing, because of a fault at an offset in it. */
export type RefuseAt = (offset: number, message: string) => never;

/** Signs of a key or a value to some versions of compose, within brackets. */
const SIGN_TO_SOME = /^[?:]|[?]\s/;

/**
 * Refuses `{?env_file: x}` and the like: a text for us, a sign and another key for some versions of
 * compose. `path` has what is around the node.
 */
export function requireSurePlain(
  node: Node,
  path: readonly unknown[],
  text: string,
  refuse: RefuseAt,
): void {
  if (!isScalar(node) || node.type !== "PLAIN") return;
  const [from = 0, to = 0] = node.range ?? [];
  if (!SIGN_TO_SOME.test(text.slice(from, to))) return;
  if (!path.some((each) => isCollection(each) && each.flow === true)) return;
  refuse(
    from,
    "a ? or a colon begins a text, or a ? ends a word of it: write the text between quotes",
  );
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
