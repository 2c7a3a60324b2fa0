/** The text that bytes are in UTF-8, with a sign in place of what is none; empty without any. */
export function utf8(bytes?: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The text that bytes are in UTF-8; `undefined` for what is none. */
export function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

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
