/** The part of a socket that {@link Connections} needs. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

interface Receiving {
  readonly complete: boolean;
}

interface Entry {
  readonly connection: Connection;
  readonly requests: Set<Receiving>;
  /** Number of requests that the connection began in `round` of the event loop. */
  begun: number;
  round: number;
}

/**
 * Most requests of one connection per round of the event loop, and most that wait for answers. The
 * runtimes serve all requests of a chunk at once, and a chunk may hold thousands.
 */
const MOST_AT_ONCE = 32;
/** The same for all connections together; beyond it each connection may only begin one. */
const MOST_OF_ALL = 100;

/**
 * The connections of one listener: limits their number, and tracks which have a request under way. The
 * key is the remote address and port, because under TLS the runtimes announce other socket objects
 * than the ones that requests carry.
 */
export class Connections {
  readonly #most: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** Those whose answer is on its way to the client; the one that takes the longest first. */
  readonly #sending = new Set<Entry>();
  readonly #empty = Promise.withResolvers<void>();
  /** Cached keys: sockets ask the system for their address every time. */
  readonly #keys = new WeakMap<Connection, string>();
  #closing = false;
  #round = 0;
  /** Requests that were begun in this round. */
  #begun = 0;
  /** Requests that wait behind another one of their connection. */
  #behind = 0;

  /** `most` is how many may be open at once. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether {@link Connections.drain} was called, so that an answer closes its connection. */
  get closing(): boolean {
    return this.#closing;
  }

  /**
   * Registers an accepted connection. At the limit it closes the oldest connection without a request;
   * if there is none, the oldest whose request is still incomplete; else the one that has been taking
   * in its answer the longest; if all wait for answers, this one.
   */
  open(connection: Connection): void {
    if (this.#closing || (this.#entries.size >= this.#most && !this.#makeRoom())) {
      connection.destroy();
      return;
    }
    const key = this.#keyOf(connection);
    const entry = { connection, requests: new Set<Receiving>(), begun: 0, round: 0 };
    this.#entries.set(key, entry);
    connection.once("close", () => this.#forget(key, entry));
  }

  /**
   * Whether a connection may begin one more request; call it once for each. False means that the
   * connection must be closed: it sends so many requests at once that others would get no turn.
   */
  mayBegin(connection: Connection): boolean {
    if (this.#begun++ === 0) {
      setImmediate(() => void ([this.#begun, this.#round] = [0, this.#round + 1]));
    }
    const entry = this.#entries.get(this.#keyOf(connection));
    if (entry === undefined) return true;
    if (entry.round !== this.#round) [entry.round, entry.begun] = [this.#round, 0];
    const most = Math.max(++entry.begun, entry.requests.size + 1);
    return most === 1 ||
      (most <= MOST_AT_ONCE && this.#begun <= MOST_OF_ALL && this.#behind < MOST_OF_ALL);
  }

  /** Registers a request whose headers were received. To be called once for each request. */
  begin(connection: Connection, request: Receiving): void {
    const requests = this.#entries.get(this.#keyOf(connection))?.requests;
    if (requests === undefined) return;
    if (requests.size > 0) this.#behind++;
    requests.add(request);
  }

  /** Notes that the answer of a connection is there, and its client has to take it in. */
  send(connection: Connection): void {
    const entry = this.#entries.get(this.#keyOf(connection));
    if (entry !== undefined) this.#sending.add(entry);
  }

  /** Ends a request that was answered or given up; returns whether its connection has another one. */
  end(connection: Connection, request: Receiving): boolean {
    const entry = this.#entries.get(this.#keyOf(connection));
    if (entry === undefined) return false;
    const { requests } = entry;
    this.#sending.delete(entry);
    if (requests.delete(request) && requests.size > 0) this.#behind--;
    return requests.size > 0;
  }

  /** Whether a request of this connection is under way. */
  isBusy(connection: Connection): boolean {
    return (this.#entries.get(this.#keyOf(connection))?.requests.size ?? 0) > 0;
  }

  /** Closes connections without a request; resolves when all are closed. May be called twice. */
  drain(): Promise<void> {
    this.#closing = true;
    for (const { connection, requests } of [...this.#entries.values()]) {
      if (requests.size === 0) connection.destroy();
    }
    if (this.#entries.size === 0) this.#empty.resolve();
    return this.#empty.promise;
  }

  /** Closes all connections at once. */
  cut(): void {
    for (const { connection } of [...this.#entries.values()]) connection.destroy();
  }

  #makeRoom(): boolean {
    const entries = [...this.#entries.values()];
    const entry = entries.find(({ requests }) => requests.size === 0) ??
      entries.find(({ requests }) => [...requests].some(({ complete }) => !complete)) ??
      this.#sending.values().next().value;
    if (entry === undefined) return false;
    // Its close event comes later, but there must be room now.
    this.#forget(this.#keyOf(entry.connection), entry);
    entry.connection.destroy();
    return true;
  }

  #keyOf(connection: Connection): string {
    return this.#keys.getOrInsertComputed(
      connection,
      ({ remoteAddress, remotePort }) => `${remoteAddress} ${remotePort}`,
    );
  }

  #forget(key: string, entry: Entry): void {
    // The same address may have connected again before the close event of the old connection.
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    this.#behind -= Math.max(0, entry.requests.size - 1);
    entry.requests.clear();
    this.#sending.delete(entry);
    if (this.#closing && this.#entries.size === 0) this.#empty.resolve();
  }
}
