import { BODY_TIME_LIMIT_MS } from "./body.ts";

/** Limits for clients: times in milliseconds, sizes and counts. */
export interface ServerLimits {
  /** For the TLS handshake, and again for the headers of a request. */
  readonly headersMs: number;
  /** For receiving a whole request with its body; the time until its answer is not limited. */
  readonly requestMs: number;
  /** For a connection without a request. */
  readonly idleMs: number;
  /** For the client to receive each piece of an answer. */
  readonly stallMs: number;
  /** For discarding the rest of a body after its answer. */
  readonly lingerMs: number;
  /** Interval of the check for late clients. */
  readonly checkEveryMs: number;
  /** Most bytes of all headers of a request. */
  readonly headerBytes: number;
  /** Most headers of a request. */
  readonly headers: number;
  /** Most open connections. */
  readonly connections: number;
  /**
   * Most bytes of all answers that wait for their clients. Beyond it the oldest answer is given up with
   * its connection: one connection may send 32 requests and never read.
   */
  readonly answerBytes: number;
}

/**
 * Close to those of doco-cd, with limits where it has none. Headers get more than 3 s, because the one
 * thread that reads them may be busy for a moment. A late body gets its own answer, so the connection
 * is closed a little after that limit. Checks for late clients wake an idle service on each of its two
 * ports, so they are rare.
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
