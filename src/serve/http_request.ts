import type { BodyShare } from "./body_budget.ts";

/**
 * As much of a request as is looked at here. A web-standard one is one; those that come by the wire
 * are not made into one, because that takes longer than most answers do.
 */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Aborted when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /**
   * The whole body; `share` is told of its pieces. One of more than `most` bytes may be only the
   * beginning, which is longer than that. Rejects when the connection ends before it. May be called once.
   */
  bytes(share?: BodyShare, most?: number): Promise<Uint8Array>;
}

/** Headers by their names, in any case; several of one name are one, joined by commas. */
export type RequestHeaders = Pick<Headers, "get">;
