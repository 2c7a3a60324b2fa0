/** What reads the bytes of a connection, where a runtime shows it. */
interface Reader {
  /** Whether the runtime wants more of them. */
  readonly reading: boolean;
  readStop(): unknown;
  readStart(): unknown;
}

/** Bytes in one go that say that there are more: a record of TLS has no more. */
const MUCH = 16 * 1024;
/** Connections with much that are read in one round of the event loop. */
const MOST_AT_ONCE = 8;

/**
 * The order in which connections are read that send much. The runtime reads one of them up to thirty times
 * in a row, and then the next: those with much are read once, and then wait until others were.
 */
export class FairReading {
  /** Oldest first. */
  readonly #waiting = new Set<object>();

  /** So many bytes of a connection were read in one go. */
  took(connection: object, bytes: number): void {
    const reader = readerOf(connection);
    if (bytes < MUCH || reader === undefined) return;
    reader.readStop();
    if (this.#waiting.size === 0) setImmediate(() => this.#goOn());
    this.#waiting.add(connection);
  }

  #goOn(): void {
    for (const connection of [...this.#waiting.values().take(MOST_AT_ONCE)]) {
      this.#waiting.delete(connection);
      readerOf(connection)?.readStart();
    }
    // Deno looks for what came from others when nothing is due, and otherwise in each sixtieth round.
    if (this.#waiting.size > 0) setTimeout(() => this.#goOn());
  }
}

/** Undefined when it is closed, or whoever reads its body has not kept up; and where there is none. */
function readerOf(connection: object): Reader | undefined {
  const { _handle: reader } = connection as { readonly _handle?: Partial<Reader> | null };
  if (reader?.reading !== true || typeof reader.readStop !== "function") return undefined;
  return typeof reader.readStart === "function" ? reader as Reader : undefined;
}
