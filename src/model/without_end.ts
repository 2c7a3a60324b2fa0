/**
 * `text` without the signs like `sign` (one character) at its end. A pattern for that, `/x+$/`, takes
 * quadratic time where many of them stand in the middle.
 */
export function withoutEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}
