/**
 * The known key that the author most likely meant: the one with the fewest edits, ignoring case, `_`
 * and `-`, if they are few for its length. `undefined` when no key is near.
 */
export function nearestKey(unknown: string, known: readonly string[]): string | undefined {
  if (unknown.length > 64) return undefined;
  const folded = fold(unknown);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const key of known) {
    const distance = editDistance(folded, fold(key));
    const allowed = Math.max(1, Math.floor(key.length / 3));
    if (distance <= allowed && distance < least) {
      best = key;
      least = distance;
    }
  }
  return best;
}

function fold(key: string): string {
  return key.toLowerCase().replace(/[_-]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours between two short texts. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/** Keys of old doco-cd files, with the keys that replaced them. */
const FORMER: Readonly<Record<string, string>> = {
  branch: "reference",
  auto_discover: "auto_discovery",
  auto_discover_opts: "auto_discovery",
  build_opts: "build",
  destroy_opts: "destroy",
};

/** Advice about a key of old doco-cd files that is no longer known; `undefined` for other keys. */
export function formerKeyAdvice(unknown: string, known: readonly string[]): string | undefined {
  if (unknown === "remove_dir" && known.includes("remove_volumes")) {
    return "no directory of sources is ever removed, so take it out; what containers wrote to relative " +
      "mounts (./data) goes and stays with the volumes: remove_volumes: false keeps it";
  }
  const today = Object.hasOwn(FORMER, unknown) ? FORMER[unknown] : undefined;
  if (today === undefined || !known.includes(today)) return undefined;
  return `what it was for is said with "${today}" today`;
}

/**
 * Whether `unknown` contains one of `parts` equal pieces of `name`: a cheap test before the edit
 * distance. One edit spoils at most two pieces, by swapping letters across their border.
 */
function sharesPart(unknown: string, name: string, parts: number): boolean {
  const length = Math.floor(name.length / parts);
  for (let from = 0; from < name.length; from += length) {
    if (unknown.includes(name.slice(from, from + length))) return true;
  }
  return false;
}

/**
 * The known name of a variable that is misspelt: by one edit in six letters or more, or by two in
 * twelve or more. An edit replaces, drops, adds or swaps letters. `undefined` when no name is near.
 */
export function nearestName(unknown: string, known: readonly string[]): string | undefined {
  if (unknown.length < 6 || unknown.length > 64 || !/^[A-Z][A-Z0-9_]*$/.test(unknown)) {
    return undefined;
  }
  const allowed = unknown.length < 12 ? 1 : 2;
  const near = known.filter((each) =>
    Math.abs(each.length - unknown.length) <= allowed && sharesPart(unknown, each, 2 * allowed + 1)
  );
  const distances = near.map((each) => [each, editDistance(unknown, each)] as const)
    .filter(([, distance]) => distance <= allowed).sort(([, a], [, b]) => a - b);
  return distances[0]?.[0];
}
