/** Characters of the longest part for which the usual search is fast with every text. */
const SHORT = 200;

/**
 * Whether a text contains a part, in time in proportion to their lengths. `String.includes` takes time in
 * proportion to their product when both say the same again and again: minutes for texts as long as
 * repositories may have. Never throws.
 */
export function contains(text: string, part: string): boolean {
  if (part.length <= SHORT || part.length > text.length) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code && ++matched === part.length) return true;
  }
  return false;
}

/** For each beginning of a part, how much of its own beginning it ends with (Knuth, Morris, Pratt). */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) {
      length = borders[length - 1] ?? 0;
    }
    if (part.charCodeAt(at) === part.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
