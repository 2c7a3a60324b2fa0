import { type Document, isAlias, isMap, isPair, isSeq } from "yaml";
import { aliasTargets, isMergeKey } from "./unsure_paths.ts";

/**
 * Number of values that reading a document makes: its own, and for each merge key again all that is below
 * its sources, as the library makes them. It counts aliases only, so that twenty thousand signs can make
 * millions. A source that merges itself has no end.
 */
export function mergedValues(document: Document): number {
  const targets = aliasTargets(document);
  const counts = new Map<unknown, number>();
  const resolved = (node: unknown) => isAlias(node) ? targets.get(node) : node;
  // Anchors stand before their aliases, so that what is below them was counted, or is being counted.
  const sources = (value: unknown): number => {
    const source = resolved(value);
    const all = isSeq(source) ? source.items.map(resolved) : [source];
    return all.reduce<number>((sum, each) => sum + count(each), 0);
  };
  const count = (node: unknown): number => {
    if (isPair(node)) return count(node.value) + (isMergeKey(node.key) ? sources(node.value) : 0);
    if (!isMap(node) && !isSeq(node)) return 1;
    const before = counts.get(node);
    if (before !== undefined) return before;
    counts.set(node, Number.POSITIVE_INFINITY);
    let sum = 1;
    for (const item of node.items) sum += count(item);
    counts.set(node, sum);
    return sum;
  };
  return count(document.contents);
}
