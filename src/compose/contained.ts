/** Comparisons of characters that a character of a text is worth before it counts as one that has some. */
const EFFORT = 64;

/**
 * A function that tells whether a text contains one of `wanted`, at a cost that grows with the text alone:
 * a repository may have thousands of secrets, and hundreds of thousands of texts. What takes too long, as
 * nothing but beginnings of `wanted` does, counts as one that does.
 */
export function containing(wanted: readonly string[]): (text: string) => boolean {
  const shortest = wanted.reduce((least, { length }) => Math.min(least, length), Infinity);
  const sorted = withoutLonger(wanted);
  // Hardly any place of a text begins like one of them.
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

/** Texts in order, without those that begin with another one: whoever contains them contains that. */
export function withoutLonger(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const each of texts.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !each.startsWith(last)) kept.push(each);
  }
  return kept;
}

/** Whether one of the texts begins at a place: it can only be the last that is not behind what is there. */
function beginsAt(
  text: string,
  at: number,
  sorted: readonly string[],
  effort: { left: number },
): boolean {
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
    // Behind the end of the text there is no number, and no comparison with it holds.
    if (wanted.charCodeAt(common) < text.charCodeAt(at + common)) from = middle + 1;
    else to = middle;
  }
  return false;
}
