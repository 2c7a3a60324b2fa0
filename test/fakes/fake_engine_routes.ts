import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json, JsonRecord } from "../../src/docker/json.ts";
import { type EngineState, Refusal } from "./fake_engine_state.ts";

/** One request as a route sees it. */
export interface RouteRequest {
  readonly state: EngineState;
  /** Variable parts of the path, unescaped. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  /** The JSON body; an empty object without one. */
  readonly body: JsonRecord;
}

/** What a route answers. */
export type RouteAnswer =
  | { readonly status: number; readonly json?: Json; readonly headers?: Record<string, string> }
  /** Writes the body itself, for as long as the client listens. */
  | { readonly stream: (response: ServerResponse, request: IncomingMessage) => void };

/** One route: method, pattern of the unversioned path, and what it does. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly handle: (request: RouteRequest) => RouteAnswer;
}

/** Filters of a query, both forms of which the API accepts: `{"label":["a"]}`, `{"label":{"a":true}}`. */
export type Filters = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the filters of a request. A filter the fake engine does not know is refused: ignoring it
 * would show objects that the real engine hides.
 */
export function filtersOf(request: RouteRequest, known: readonly string[]): Filters {
  const text = request.query.get("filters") ?? "";
  const filters = new Map<string, readonly string[]>();
  if (text === "") return filters;
  for (const [name, values] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
    if (!known.includes(name)) throw new Refusal(501, `fake engine: unknown filter ${name}`);
    filters.set(name, Array.isArray(values) ? values as string[] : Object.keys(values as object));
  }
  return filters;
}

/** Whether all `label` filters hold: `key` or `key=value`. */
export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  filters: Filters,
): boolean {
  return (filters.get("label") ?? []).every((filter) => {
    const at = filter.indexOf("=");
    const key = at < 0 ? filter : filter.slice(0, at);
    return at < 0 ? labels[key] !== undefined : labels[key] === filter.slice(at + 1);
  });
}

/** Whether any value of a filter is accepted; true without the filter. */
export function matchesAny(
  filters: Filters,
  name: string,
  accepts: (value: string) => boolean,
): boolean {
  const values = filters.get(name);
  return values === undefined || values.some(accepts);
}

/** Whether a query flag is set, in any of the ways clients write it. */
export function flag(query: URLSearchParams, name: string): boolean {
  return ["1", "true", "True"].includes(query.get(name) ?? "");
}
