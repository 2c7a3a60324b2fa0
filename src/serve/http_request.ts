import type { BodyShare } from "./body_budget.ts";

/**
 * The part of a request that handlers use. A web-standard request fits; requests from the wire are not
 * converted into web-standard ones, because that takes longer than most answers.
 */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Aborted when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /**
   * The whole body; `share` counts its pieces. Of a body with more than `most` bytes it may be only a
   * beginning that is longer than `most`. Rejects when the connection ends early. May be called once.
   */
  bytes(share?: BodyShare, most?: number): Promise<Uint8Array>;
}

/** Headers by name, in any case; several of one name are joined by commas. */
export type RequestHeaders = Pick<Headers, "get">;
