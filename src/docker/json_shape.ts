import { errors, type StackwrightError } from "../model/mod.ts";

/** How much one value of JSON may be before it is parsed, which takes all of this process. */
const MOST = {
  bytes: 8 << 20,
  /** Levels of nesting: a parser takes 22 seconds and gigabytes for 30 million of them. */
  depth: 64,
  /** Members of objects: 300,000 different names take half a second to parse. */
  members: 300_000,
  values: 1_000_000,
} as const;

/** Bytes that mean something in JSON. */
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

/** Follows one value of JSON that arrives in pieces, in constant memory, before anybody parses it. */
export class JsonShape {
  #bytes = 0;
  #depth = 0;
  #members = 0;
  #values = 0;
  #isText = false;
  #isEscaped = false;

  /** Looks at the next bytes. Throws `engine_refused` when it is more than is parsed. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MOST.bytes) throw tooMuch(`longer than ${MOST.bytes} bytes`);
    for (let at = 0; at < bytes.length; at++) this.#next(bytes[at] ?? 0);
    if (this.#depth > MOST.depth) throw tooMuch(`nested deeper than ${MOST.depth} levels`);
    if (this.#members > MOST.members) throw tooMuch(`more than ${MOST.members} members`);
    if (this.#values > MOST.values) throw tooMuch(`more than ${MOST.values} values`);
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
      // Never less again: what was too deep once stays so.
      if (++this.#depth > MOST.depth) this.#depth = Infinity;
    } else if (byte === SIGNS.closeObject || byte === SIGNS.closeList) this.#depth--;
  }
}

/** The error for an answer that is more than is read. */
export function tooMuch(what: string): StackwrightError {
  return errors.engine_refused(`the engine's answer is ${what}, which is more than is read of one`);
}
