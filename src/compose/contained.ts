/** Comparisons per character of a text, beyond which it counts as containing a wanted one. */
const EFFORT = 64;

/**
 * Makes a function that tells whether a text contains one of `wanted`, at a cost that depends only
 * on the text: a repository may have thousands of secrets and hundreds of thousands of texts. A
 * text that takes too long, as by repeating beginnings of `wanted`, counts as containing one.
 */
export function containing(wanted: readonly string[]): (text: string) => boolean {
  const shortest = wanted.reduce((least, { length }) => Math.min(least, length), Infinity);
  const sorted = withoutLonger(wanted);
  // Most positions of a text are excluded by their first characters.
  const beginnings = new Set(sorted.map((each) => each.slice(0, shortest).slice(0, 4)));
  const size = Math.min(shortest, 4);
  return (text) => {
    const effort = { left: EFFORT * text.length };
    for (let at = 0; at + shortest <= text.length; at++) {
      if (!beginnings.has(text.slice(at, at + size))) continue;
      if (beginsAt(text, at, sorted, effort) || effort.left < 0) return true;
    }
    return false;
  };
}

/** Sorted texts, except for those that begin with another one and so contain it. */
export function withoutLonger(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const each of texts.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !each.startsWith(last)) kept.push(each);
  }
  return kept;
}

/** Whether a text begins at a position: only the last one sorted before what is there can match. */
function beginsAt(text: string, at: number, sorted: readonly string[], effort: { left: number }) {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const wanted = sorted[middle] ?? "";
    let common = 0;
    while (common < wanted.length && wanted.charCodeAt(common) === text.charCodeAt(at + common)) {
      common++;
    }
    if (common === wanted.length) return true;
    effort.left -= common + 1;
    // Beyond the end of the text charCodeAt is NaN, and every comparison with it is false.
    if (wanted.charCodeAt(common) < text.charCodeAt(at + common)) from = middle + 1;
    else to = middle;
  }
  return false;
}
