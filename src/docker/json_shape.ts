import { errors, type StackwrightError } from "../model/mod.ts";

/** Limits for one JSON value, since parsing blocks the whole process. */
export const MOST_JSON = {
  bytes: 8 << 20,
  /** Levels of nesting: 30 million of them cost a parser 22 seconds and gigabytes. */
  depth: 64,
  /** Members of objects: parsing 300,000 different names takes half a second. */
  members: 300_000,
  values: 1_000_000,
} as const;

/** Bytes with a meaning in JSON. */
export const SIGNS = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** Measures one JSON value that arrives in pieces, in constant memory, before it is parsed. */
export class JsonShape {
  #bytes = 0;
  #depth = 0;
  #members = 0;
  #values = 0;
  #isText = false;
  #isEscaped = false;

  /** Values so far; those in objects count twice. */
  get values(): number {
    return this.#values + this.#members;
  }

  /** Whether the next bytes exceed no limit. */
  fits(bytes: Uint8Array): boolean {
    try {
      this.add(bytes);
      return true;
    } catch {
      return false;
    }
  }

  /** Processes the next bytes. Throws `engine_refused` when a limit is exceeded. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MOST_JSON.bytes) throw tooMuch(`longer than ${MOST_JSON.bytes} bytes`);
    for (let at = 0; at < bytes.length; at++) this.#next(bytes[at] ?? 0);
    if (this.#depth > MOST_JSON.depth) {
      throw tooMuch(`nested deeper than ${MOST_JSON.depth} levels`);
    }
    if (this.#members > MOST_JSON.members) throw tooMuch(`more than ${MOST_JSON.members} members`);
    if (this.#values > MOST_JSON.values) throw tooMuch(`more than ${MOST_JSON.values} values`);
  }

  #next(byte: number): void {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === SIGNS.backslash) this.#isEscaped = true;
      else if (byte === SIGNS.quote) this.#isText = false;
    } else if (byte === SIGNS.quote) this.#isText = true;
    else if (byte === SIGNS.comma) this.#values++;
    else if (byte === SIGNS.colon) this.#members++;
    else if (byte === SIGNS.openObject || byte === SIGNS.openList) {
      this.#values++;
      // A value that was too deep once must stay too deep.
      if (++this.#depth > MOST_JSON.depth) this.#depth = Infinity;
    } else if (byte === SIGNS.closeObject || byte === SIGNS.closeList) this.#depth--;
  }
}

/** The error for an answer beyond a limit. */
export function tooMuch(what: string): StackwrightError {
  return errors.engine_refused(`the engine's answer is ${what}, which is more than is read of one`);
}
