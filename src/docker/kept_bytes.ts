import { JsonShape, MOST_JSON } from "./json_shape.ts";

/** An entry of a list. */
export interface ListEntry {
  /** JSON text; `undefined` for an entry that is too large. */
  readonly text: string | undefined;
  /** Values in it; those in objects count twice. */
  readonly values: number;
}

/** The kept bytes of one entry, up to a limit. */
export class KeptBytes {
  readonly #decoder = new TextDecoder();
  #bytes = new Uint8Array(16 << 10);
  #isTooLarge = false;
  /** Number of bytes so far. */
  length = 0;

  add(bytes: Uint8Array, from: number, end: number): void {
    const length = this.#grown(end - from);
    if (end - from > 100) this.#bytes.set(bytes.subarray(from, end), length);
    // Faster for the few bytes of most values.
    else for (let at = from; at < end; at++) this.#bytes[length + at - from] = bytes[at] ?? 0;
  }

  /** Adds a text of single bytes. */
  addText(text: string): void {
    const length = this.#grown(text.length);
    for (let at = 0; at < text.length; at++) this.#bytes[length + at] = text.charCodeAt(at);
  }

  /** The length before so many more bytes; too many are written over each other. */
  #grown(more: number): number {
    const before = this.length;
    if (before + more > MOST_JSON.bytes) this.#isTooLarge = true;
    if (before + more > this.#bytes.length) {
      const larger = new Uint8Array(2 * (before + more));
      larger.set(this.#bytes.subarray(0, before));
      this.#bytes = larger;
    }
    if (!this.#isTooLarge) this.length += more;
    return before;
  }

  /** Takes back all after this length. */
  cutTo(length: number): void {
    if (!this.#isTooLarge) this.length = length;
  }

  /** Begins another entry. */
  clear(): void {
    [this.length, this.#isTooLarge] = [0, false];
  }

  /** The entry, if it is not too large. */
  entry(): ListEntry {
    const bytes = this.#bytes.subarray(0, this.length);
    const shape = new JsonShape();
    if (this.#isTooLarge || !shape.fits(bytes)) return { text: undefined, values: 0 };
    return { text: this.#decoder.decode(bytes), values: shape.values };
  }
}
