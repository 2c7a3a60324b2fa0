import { isNode } from "yaml";
import type { Problem } from "../model/mod.ts";
import type { ComposeText } from "./compose_keys.ts";

/** The line of a key of a compose file; none where a merge brings it. */
export function lineOf(
  { documents, lines }: Pick<ComposeText, "documents" | "lines">,
  keys: readonly (string | number)[],
): Pick<Problem, "line" | "column"> {
  for (const document of documents) {
    const node = document.getIn(keys, true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return linePlace({ lines }, range[0]);
  }
  return {};
}

/** The line and the column of an offset. */
export function linePlace({ lines }: Pick<ComposeText, "lines">, offset: number) {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
