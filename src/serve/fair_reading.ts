/** The handle by which a runtime reads a connection, if the runtime exposes it. */
interface Reader {
  /** Whether the runtime reads at the moment. */
  readonly reading: boolean;
  readStop(): unknown;
  readStart(): unknown;
}

/** Bytes of one read that suggest that more follow; also the largest record of TLS. */
const MUCH = 16 * 1024;
/** Heavy senders that are read in one round of the event loop. */
const MOST_AT_ONCE = 8;

/**
 * Reads connections that send much in turn. The runtime reads one connection up to thirty times in a
 * row before the next; here a heavy sender is read once and then waits for the others.
 */
export class FairReading {
  /** Oldest first. */
  readonly #waiting = new Set<object>();

  /** Notes that one read of a connection gave so many bytes. */
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
    // A timer, because Deno polls other sockets when nothing is due, otherwise every sixtieth round.
    if (this.#waiting.size > 0) setTimeout(() => this.#goOn());
  }
}

/** `undefined` for a closed or already paused connection, and for runtimes without such a handle. */
function readerOf(connection: object): Reader | undefined {
  const { _handle: reader } = connection as { readonly _handle?: Partial<Reader> | null };
  if (reader?.reading !== true || typeof reader.readStop !== "function") return undefined;
  return typeof reader.readStart === "function" ? reader as Reader : undefined;
}
