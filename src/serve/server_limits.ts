import { BODY_TIME_LIMIT_MS } from "./body.ts";

/** Limits of clients: milliseconds they may take, and how much they may take up. */
export interface ServerLimits {
  /** For the TLS handshake, and again for the headers of a request. */
  readonly headersMs: number;
  /** For a whole request, its body included. Its answer may take as long as it does. */
  readonly requestMs: number;
  /** Without a request. */
  readonly idleMs: number;
  /** For each piece of an answer that is to be taken in. */
  readonly stallMs: number;
  /** For the rest of a body that nobody wants any more, after its answer. */
  readonly lingerMs: number;
  /** Milliseconds between looks at who is late. */
  readonly checkEveryMs: number;
  /** Bytes of all headers of a request. */
  readonly headerBytes: number;
  /** Headers of a request. */
  readonly headers: number;
  /** Connections open at once. */
  readonly connections: number;
  /**
   * Bytes of all answers together that wait for their clients. Beyond it the one that waits the longest
   * is given up with its connection: one connection may ask 32 times, and never listen.
   */
  readonly answerBytes: number;
}

/**
 * Near those of the closest peer, and bounds where it has none. Headers get more than 3 s, because the
 * one thread that reads them may be busy itself for a moment, and that is not the client's fault. The
 * time of a body has an answer of its own, so the connection is cut a little later than that. Looks at
 * who is late wake a service that has nothing to do, on each of its two ports, so they are few.
 */
export const SERVER_LIMITS: ServerLimits = {
  headersMs: 10_000,
  requestMs: BODY_TIME_LIMIT_MS + 3_000,
  idleMs: 120_000,
  stallMs: 30_000,
  lingerMs: 2_000,
  checkEveryMs: 5_000,
  headerBytes: 16 * 1024,
  headers: 100,
  connections: 1_000,
  answerBytes: 128 * 1024 * 1024,
};
