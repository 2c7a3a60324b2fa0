/** Longest text of an entry that is kept, in characters. */
const MOST_TEXT = 2000;

/** A text as long as it is kept. */
export function fittingText(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT - 3)}...`;
}

/**
 * The first entries of a list that have at most so many characters together as JSON, as `write` makes them;
 * no other one is looked at. The first one is kept in any case.
 */
export function fitting<T>(
  entries: readonly T[],
  most: number,
  write: (entry: T) => T = (entry) => entry,
): readonly T[] {
  const kept: T[] = [];
  let left = most;
  for (const entry of entries) {
    const written = write(entry);
    left -= JSON.stringify(written).length;
    if (left < 0 && kept.length > 0) break;
    kept.push(written);
  }
  return kept;
}
