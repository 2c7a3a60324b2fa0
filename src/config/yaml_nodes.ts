import { isScalar, type Pair, type Scalar } from "yaml";
import type { Located, Position } from "./located.ts";

/** Whether a key is the plain `<<`. */
export function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.source === "<<";
}

/** A scalar with its text as it is written. */
export function scalar(node: Scalar, at: Position | undefined): Located {
  const { value } = node;
  if (value === null || value === undefined) return { kind: "null", at };
  const plain = node.type === "PLAIN";
  const text = typeof value === "string" && !plain ? value : node.source ?? String(value);
  const known = typeof value === "number" || typeof value === "boolean";
  return { kind: "scalar", value: known ? value : text, text, plain, at };
}

/** Whether the name of an alias is one; a password that begins with a star is taken for an alias too. */
export function isName(text: string): boolean {
  return /^[a-z][a-z_-]*$/i.test(text);
}
