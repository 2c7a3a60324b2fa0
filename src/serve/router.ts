import { byText } from "../model/mod.ts";

/** One path and method with its value. `{name}` matches any segment that is not empty. */
interface RouteEntry<T> {
  readonly method: string;
  readonly path: string;
  readonly value: T;
}

type RouteMatch<T> =
  | {
    readonly kind: "found";
    readonly value: T;
    readonly params: Readonly<Record<string, string>>;
  }
  /** `allow` are the methods of the path, sorted. */
  | { readonly kind: "wrong_method"; readonly allow: readonly string[] }
  | { readonly kind: "not_found" };

/** Finds the value for a method and a path (without query). */
export interface Router<T> {
  match(method: string, path: string): RouteMatch<T>;
}

const VARIABLE = /\{(\w+)\}/g;

/**
 * A router over fixed routes. A fixed segment beats a variable one; a trailing slash is a segment of
 * its own, so it matches nothing here. Throws when two routes are the same, which is a mistake of ours.
 */
export function createRouter<T>(entries: readonly RouteEntry<T>[]): Router<T> {
  requireOneNameEach(entries);
  // Sorts variable segments behind fixed ones.
  const order = (path: string) => path.replaceAll(VARIABLE, "\uffff");
  const paths = [...Map.groupBy(entries, ({ path }) => path)]
    .sort(([a], [b]) => byText(order(a), order(b)))
    .map(([path, routes]) => ({ segments: path.split("/").slice(1), methods: methodsOf(routes) }));
  return {
    match(method, path) {
      const given = decodeSegments(path) ?? [];
      const found = paths.find(({ segments }) => fits(segments, given));
      if (found === undefined) return { kind: "not_found" };
      const { segments, methods } = found;
      const value = methods.get(method);
      if (value === undefined) return { kind: "wrong_method", allow: [...methods.keys()].sort() };
      const params = segments.flatMap((each, at) =>
        each.startsWith("{") ? [[each.slice(1, -1), given[at] ?? ""]] : []
      );
      return { kind: "found", value, params: Object.fromEntries(params) };
    },
  };
}

function fits(segments: readonly string[], given: readonly string[]): boolean {
  return segments.length === given.length &&
    segments.every((each, at) => each.startsWith("{") ? given[at] !== "" : each === given[at]);
}

function methodsOf<T>(routes: readonly RouteEntry<T>[]): ReadonlyMap<string, T> {
  const methods = new Map(routes.map(({ method, value }) => [method, value]));
  if (methods.size < routes.length) throw new Error(`BUG: two routes for ${routes[0]?.path}`);
  return methods;
}

/** A segment with two names would make two paths of one. */
function requireOneNameEach(entries: readonly RouteEntry<unknown>[]): void {
  const names = new Map<string, string>();
  for (const { path } of entries) {
    for (const { 1: name = "", index } of path.matchAll(VARIABLE)) {
      const before = path.slice(0, index);
      if ((names.get(before) ?? name) !== name) {
        throw new Error(`BUG: two names for a segment of ${path}`);
      }
      names.set(before, name);
    }
  }
}

/** The segments of a path; `undefined` when it does not start with `/` or is encoded wrongly. */
function decodeSegments(path: string): string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  try {
    return path.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
