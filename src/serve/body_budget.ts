import { errors, type StackwrightError } from "../model/mod.ts";

/** Cost of one piece of a body besides its bytes, about: pieces of one byte each add up, too. */
const PIECE_COST = 128;

/** The part that one body has of a {@link BodyBudget}. */
export interface BodyShare {
  /** A piece of so many bytes came and is kept. */
  readonly took: (bytes: number) => void;
  /** Calls `drop` with `cancelled` when the body is given up: what is kept of it is not wanted any more. */
  readonly onDrop: (drop: (why: StackwrightError) => void) => void;
  /** The body is whole, or nobody waits for it. */
  readonly close: () => void;
}

interface Held {
  bytes: number;
  isOpen: boolean;
  /** Those who are told when it is given up. */
  readonly told: ((why: StackwrightError) => void)[];
}

/**
 * The budget of all bodies together that have not come to their end, on their way in or out. When it is
 * too much, the one of which something has been kept the longest is given up: real clients take
 * milliseconds, so that those who never finish push out each other.
 */
export class BodyBudget {
  readonly #most: number;
  /** Oldest first. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  /** `most` is in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins with a body. */
  open(): BodyShare {
    const held: Held = { bytes: 0, isOpen: true, told: [] };
    return {
      took: (bytes) => this.#add(held, bytes + PIECE_COST),
      onDrop: (drop) => void held.told.push(drop),
      close: () => this.#close(held),
    };
  }

  #add(held: Held, bytes: number): void {
    if (!held.isOpen) return;
    // With its first piece: giving up a request that waits for the end of a run would free nothing.
    this.#held.add(held);
    held.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#held) {
      if (this.#bytes <= this.#most) return;
      this.#close(oldest);
      for (const drop of oldest.told) drop(tooMuch());
    }
  }

  #close(held: Held): void {
    held.isOpen = false;
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }
}

function tooMuch(): StackwrightError {
  return errors.cancelled("too many requests are half sent, send it again later");
}
