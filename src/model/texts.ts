/** The order of texts by their code units, the same everywhere, for sorting. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A text without its percent escapes; as it is where these are broken. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * `text` without the signs like `sign` (one character) at its end. A pattern for that, `/x+$/`, takes
 * quadratic time where many of them stand in the middle.
 */
export function withoutEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}
