/** The end of what a program printed. */
export class LastBytes {
  readonly #most: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** `most` are the bytes that are kept at least; chunks are kept as a whole. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds what was printed next. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    let first = this.#chunks[0];
    while (first !== undefined && this.#length - first.length >= this.#most) {
      this.#chunks.shift();
      this.#length -= first.length;
      first = this.#chunks[0];
    }
  }

  /** What is kept, in one piece. */
  whole(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  }
}
