import { errors, type StackwrightError } from "../model/mod.ts";

/** Estimated cost of a piece of a body besides its bytes: pieces of one byte add up, too. */
const PIECE_COST = 128;

/** The share of one body in a {@link BodyBudget}. */
export interface BodyShare {
  /** Counts a piece of so many bytes that is kept in memory. */
  readonly took: (bytes: number) => void;
  /** Calls `drop` with `cancelled` when the body is given up and its pieces must be released. */
  readonly onDrop: (drop: (why: StackwrightError) => void) => void;
  /** Ends the share: the body is complete, or nobody waits for it any more. */
  readonly close: () => void;
}

interface Held {
  bytes: number;
  isOpen: boolean;
  /** Listeners for the moment when the body is given up. */
  readonly told: ((why: StackwrightError) => void)[];
}

/**
 * A memory budget for all unfinished bodies together, incoming or outgoing. When it is exceeded, the
 * body that has held memory the longest is given up: real clients finish within milliseconds, so
 * clients that never finish displace each other.
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
    // Age counts from the first piece: a request that waits for a run holds no memory to free.
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
