import type { TransportRequest } from "./transport_messages.ts";

/** Parameters of a query; `undefined` is left out, objects are sent as JSON. */
export type Query = Readonly<Record<string, string | number | boolean | object | undefined>>;

/** One call of the Engine API. */
export interface ApiRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Unversioned, escaped path: `/containers/json`. */
  readonly path: string;
  readonly query?: Query;
  readonly json?: unknown;
  /** Sent as a tar archive, instead of JSON. */
  readonly archive?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Error statuses that are valid answers, such as 404 for an existence check. */
  readonly accept?: readonly number[];
  /** Milliseconds for the whole answer; {@link CALL_LIMIT_MS} by default, `Infinity` for no limit. */
  readonly limitMs?: number;
  /**
   * Id of the container that the call acts on, which may hang as long as that: the source of its stack
   * waits for its turn, and no other call for it.
   */
  readonly actsOn?: string;
  /** Whether the answer is short, and waits for no others: what tells whether an engine answers. */
  readonly isBeside?: boolean;
}

const UNCHANGING_POST = /^\/containers\/[^/]+\/(?:wait|attach)$|^\/auth$/;

/** The HTTP request for a call. */
export function toTransport(request: ApiRequest, prefix: string): TransportRequest {
  const message = {
    method: request.method,
    path: prefix + request.path + queryText(request.query ?? {}),
  };
  if (request.archive !== undefined) {
    const headers = { "Content-Type": "application/x-tar", ...request.headers };
    return { ...message, headers, body: request.archive };
  }
  if (request.json === undefined) {
    return request.headers === undefined ? message : { ...message, headers: request.headers };
  }
  return {
    ...message,
    headers: { "Content-Type": "application/json", ...request.headers },
    body: JSON.stringify(request.json),
  };
}

function queryText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    pairs.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

/** Whether a request changes something on the engine. */
export function isMutating(request: ApiRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return false;
  return !(request.method === "POST" && UNCHANGING_POST.test(request.path));
}
