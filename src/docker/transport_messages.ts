/** One HTTP request to an engine. */
export interface TransportRequest {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether the answer ends by itself and is read at once, unlike a stream of events. */
  readonly isWhole?: boolean;
}

/** An answer whose body is still to be read. */
export interface TransportResponse {
  readonly status: number;
  /** Headers by lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as it arrives. Read it to the end, or call {@link TransportResponse.discard}. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives up the rest of the body and its connection. May be called twice. */
  discard(): void;
}
