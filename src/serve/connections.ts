/** As much of a socket as is needed to keep count of it. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/** A request on its way in. */
interface Receiving {
  /** Whether all of it has come. */
  readonly complete: boolean;
}

interface Entry {
  readonly connection: Connection;
  readonly requests: Set<Receiving>;
  /** Number of requests that it began in a round of the event loop. */
  begun: number;
  round: number;
}

/**
 * Requests that one connection may begin before others have their turn, and that may wait for an answer.
 * The runtimes serve all that is in a chunk in one go, and a chunk holds thousands.
 */
const MOST_AT_ONCE = 32;
/** The same of all connections together, where one has several: beyond it each begins one. */
const MOST_OF_ALL = 100;

/**
 * The connections of one listener: how many there may be, and which have a request under way. They
 * are known by the address of their other end, because under TLS the runtimes announce other objects
 * than the ones that requests come from.
 */
export class Connections {
  readonly #most: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #empty = Promise.withResolvers<void>();
  /** Sockets ask the system for their address every time. */
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

  /** Number of open connections. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether {@link Connections.drain} was called: answers end their connection. */
  get closing(): boolean {
    return this.#closing;
  }

  /**
   * A connection was accepted. With a full house the one goes that has been open the longest without
   * a request; if there is none, the one whose request has been coming in the longest; if all of them
   * wait for answers, this one.
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
   * Whether a connection may begin one more request; to be asked once for each. False when it sends so many
   * without waiting for answers that nobody else has a turn: it is to be ended.
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

  /** The headers of a request came by this connection. To be called once for each request. */
  begin(connection: Connection, request: Receiving): void {
    const requests = this.#entries.get(this.#keyOf(connection))?.requests;
    if (requests === undefined) return;
    if (requests.size > 0) this.#behind++;
    requests.add(request);
  }

  /** The request was answered, or given up; returns whether its connection has another one. */
  end(connection: Connection, request: Receiving): boolean {
    const requests = this.#entries.get(this.#keyOf(connection))?.requests;
    if (requests === undefined) return false;
    if (requests.delete(request) && requests.size > 0) this.#behind--;
    return requests.size > 0;
  }

  /** Whether a request of this connection is under way. */
  isBusy(connection: Connection): boolean {
    return (this.#entries.get(this.#keyOf(connection))?.requests.size ?? 0) > 0;
  }

  /** Cuts those without a request; resolves when the others are gone too. May be called twice. */
  drain(): Promise<void> {
    this.#closing = true;
    for (const { connection, requests } of [...this.#entries.values()]) {
      if (requests.size === 0) connection.destroy();
    }
    if (this.#entries.size === 0) this.#empty.resolve();
    return this.#empty.promise;
  }

  /** Cuts all of them. */
  cut(): void {
    for (const { connection } of [...this.#entries.values()]) connection.destroy();
  }

  #makeRoom(): boolean {
    const entries = [...this.#entries];
    const [key, entry] = entries.find(([, { requests }]) => requests.size === 0) ??
      entries.find(([, { requests }]) => [...requests].some(({ complete }) => !complete)) ?? [];
    if (key === undefined || entry === undefined) return false;
    // It says that it is closed some time later: there must be room now.
    this.#forget(key, entry);
    entry.connection.destroy();
    return true;
  }

  #keyOf(connection: Connection): string {
    const known = this.#keys.get(connection);
    if (known !== undefined) return known;
    const key = `${connection.remoteAddress} ${connection.remotePort}`;
    this.#keys.set(connection, key);
    return key;
  }

  #forget(key: string, entry: Entry): void {
    // The same address may have connected again before the old connection said that it is closed.
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    this.#behind -= Math.max(0, entry.requests.size - 1);
    entry.requests.clear();
    if (this.#closing && this.#entries.size === 0) this.#empty.resolve();
  }
}
