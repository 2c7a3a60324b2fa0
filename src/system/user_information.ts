import { endOf } from "./named_values.ts";

const MASK = "***";

/** A port, and so no password. */
const PORT = /\d{1,5}(?:[/?#\s"'`]|$)/y;
/** The same where the end of the text was cut off. */
const CUT_PORT = /\d{1,5}[/?#…]/y;

/**
 * `text` with the user information of every URL replaced by `***`: everything between the scheme and
 * the last `@` of the authority; also where a password has characters that do not belong into a URL,
 * and where the end was cut off, and its `@` with it. Linear in the text, which may be anybody's.
 */
export function maskUserInformation(text: string): string {
  const words = new Words(text);
  let result = "";
  let shown = 0;
  for (let at = text.indexOf("://"); at >= 0;) {
    const start = at + 3;
    const end = /[a-z0-9+.-]/i.test(text[at - 1] ?? "") ? endOfUser(text, start, words) : start;
    if (end > start) {
      result += text.slice(shown, start) + MASK;
      shown = end;
    }
    at = text.indexOf("://", end);
  }
  return shown === 0 ? text : result + text.slice(shown);
}

/** End of the user information that begins at `start`: its `@`, or where it was cut off. */
function endOfUser(text: string, start: number, words: Words): number {
  const authority = endOf(/[^\s/?#"'`]+/y, text, start);
  const plain = text.slice(start, authority).lastIndexOf("@");
  if (plain > 0) return isSshUser(text, start, start + plain) ? start : start + plain;
  const user = endOf(/[^\s/:@"'`]+/y, text, start);
  if (text[user] !== ":") return start;
  const raw = words.lastAt(user);
  if (raw > user + 1 && endOf(PORT, text, user + 1) === user + 1) return raw;
  const rest = text.slice(user + 1, endOf(/[^\s/"]+/y, text, user + 1));
  const isCut = rest.includes("…") && endOf(CUT_PORT, text, user + 1) === user + 1;
  return isCut ? user + 1 + rest.lastIndexOf("…") : start;
}

/** The name of a user of SSH is no secret, and messages show people what to write. */
function isSshUser(text: string, start: number, end: number): boolean {
  if (!/^ssh:\/\/$/i.test(text.slice(Math.max(0, start - 6), start))) return false;
  return end - start <= 32 && /^[a-z_][a-z_-]*$/.test(text.slice(start, end));
}

/** The words of a text, one after the other: each is looked at once, however many URLs it has. */
class Words {
  readonly #text: string;
  #end = -1;
  #lastAt = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The last `@` of the word around a place, -1 without one. Places only grow. */
  lastAt(place: number): number {
    if (place >= this.#end) {
      this.#end = endOf(/[^\s"'`]+/y, this.#text, place);
      const at = this.#text.slice(place, this.#end).lastIndexOf("@");
      this.#lastAt = at < 0 ? -1 : place + at;
    }
    return this.#lastAt;
  }
}
