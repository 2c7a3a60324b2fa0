import { type Document, isAlias, isMap, isPair, isScalar, isSeq, visit } from "yaml";

/** Paths that compose may read for a document, under any reading of its merge keys. */
export interface UnsurePaths {
  /** Files of `extends`. */
  readonly extended: readonly string[];
  /** Files of `env_file` and `label_file`. */
  readonly files: readonly string[];
}

/**
 * All paths below any key `env_file`, `label_file` or `extends` of a document with merge keys; empty for
 * documents without. Parsers differ in the value that a merge leaves: compose removes values tagged
 * `!reset` before it merges, so that a merged value appears in their place.
 */
export function unsurePaths(document: Document): UnsurePaths {
  const found = { extended: new Set<string>(), files: new Set<string>() };
  if (hasMerge(document.contents)) {
    const targets = aliasTargets(document);
    const seen = { extended: new Set<unknown>(), files: new Set<unknown>() };
    visit(document, {
      Pair(_key, { key, value }) {
        const name = isScalar(key) ? key.value : undefined;
        if (name === "env_file" || name === "label_file") {
          collect(value, { targets, seen: seen.files, found: found.files });
        }
        if (name === "extends") {
          collect(value, { targets, seen: seen.extended, found: found.extended, only: "file" });
        }
      },
    });
  }
  return { extended: [...found.extended], files: [...found.files] };
}

/** Whether a merge key stands at or below a node; does not follow aliases. */
export function hasMerge(node: unknown): boolean {
  return has(node, (each) => isPair(each) && isMergeKey(each.key));
}

/** Whether a node is an alias, or has one below it. */
export function hasAlias(node: unknown): boolean {
  return isAlias(node) || has(node, isAlias);
}

function has(node: unknown, isWanted: (each: unknown) => boolean): boolean {
  let found = false;
  if (!isMap(node) && !isSeq(node)) return false;
  visit(node, (_key, each) => {
    if (!isWanted(each)) return undefined;
    found = true;
    return visit.BREAK;
  });
  return found;
}

/** Whether some parser takes a key for a merge key. Our library makes a symbol of its own merge keys. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && (key.value === "<<" || typeof key.value === "symbol");
}

/** Nodes of all aliases, found in one pass: the library looks through the document for every one. */
export function aliasTargets(document: Document): ReadonlyMap<unknown, unknown> {
  const anchors = new Map<string, unknown>();
  const targets = new Map<unknown, unknown>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) targets.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Adds the texts at and below a node, each node once; with `only`, those that are values of that key. */
function collect(
  start: unknown,
  { targets, seen, found, only }: {
    readonly targets: ReadonlyMap<unknown, unknown>;
    readonly seen: Set<unknown>;
    readonly found: Set<string>;
    readonly only?: string;
  },
): void {
  const waiting = [{ node: start, isWanted: only === undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { isWanted } = next;
    const node = isAlias(next.node) ? targets.get(next.node) : next.node;
    if (isScalar(node)) {
      if (isWanted && typeof node.value === "string" && node.value !== "") found.add(node.value);
      continue;
    }
    if ((!isMap(node) && !isSeq(node)) || seen.has(node)) continue;
    seen.add(node);
    for (const item of node.items) {
      if (!isPair(item)) waiting.push({ node: item, isWanted });
      else {
        const key = isScalar(item.key) ? item.key.value : undefined;
        waiting.push({ node: item.value, isWanted: only === undefined || key === only });
      }
    }
  }
}
