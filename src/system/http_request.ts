/** A request to another server. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute, http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer of a server; any status is one. */
export interface HttpAnswer {
  readonly status: number;
  /** One header, by its lower-case name. */
  header(name: string): string | undefined;
  readonly body: string;
  /** The body as it came, where the client tells it. */
  readonly bytes?: Uint8Array;
}

/** Other servers as a port: everything that asks one over HTTP gets this. */
export interface HttpClient {
  /**
   * Sends a request and reads the whole answer. A redirect is followed for GET and on the same
   * origin only: its headers are credentials of that one place.
   *
   * Throws `timeout`, `http_failed` when there is no usable answer (its message has the origin of the
   * URL, and nothing else of it), and the signal's reason.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Ends idle connections. */
  close(): void;
}
