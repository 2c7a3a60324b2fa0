/** One path and method with its value. `{name}` matches any segment that is not empty. */
interface RouteEntry<T> {
  readonly method: string;
  readonly path: string;
  readonly value: T;
}

/** Result of a router. */
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

interface Node<T> {
  readonly fixed: Map<string, Node<T>>;
  variable: { readonly name: string; readonly node: Node<T> } | undefined;
  readonly methods: Map<string, T>;
}

/** The methods at a path, with the values of its variables. */
interface Match<T> {
  readonly methods: ReadonlyMap<string, T>;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * A router over fixed routes. A fixed segment beats a variable one; a trailing slash is a segment of
 * its own, so it matches nothing here. Throws when two routes are the same, which is a mistake of ours.
 */
export function createRouter<T>(entries: readonly RouteEntry<T>[]): Router<T> {
  const root = createNode<T>();
  for (const entry of entries) insert(root, entry);
  return {
    match(method, path) {
      const segments = decodeSegments(path);
      const match = segments === undefined ? undefined : find(root, segments, 0);
      if (match === undefined) return { kind: "not_found" };
      const value = match.methods.get(method);
      if (value !== undefined) return { kind: "found", value, params: match.params };
      return { kind: "wrong_method", allow: [...match.methods.keys()].sort() };
    },
  };
}

function createNode<T>(): Node<T> {
  return { fixed: new Map(), variable: undefined, methods: new Map() };
}

function insert<T>(root: Node<T>, { method, path, value }: RouteEntry<T>): void {
  let node = root;
  for (const segment of path.split("/").slice(1)) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    node = name === undefined ? fixedChild(node, segment) : variableChild(node, name, path);
  }
  if (node.methods.has(method)) throw new Error(`BUG: two routes for ${method} ${path}`);
  node.methods.set(method, value);
}

function fixedChild<T>(node: Node<T>, segment: string): Node<T> {
  const child = node.fixed.get(segment) ?? createNode<T>();
  node.fixed.set(segment, child);
  return child;
}

function variableChild<T>(node: Node<T>, name: string, path: string): Node<T> {
  node.variable ??= { name, node: createNode<T>() };
  if (node.variable.name !== name) throw new Error(`BUG: two names for a segment of ${path}`);
  return node.variable.node;
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

function find<T>(node: Node<T>, segments: readonly string[], at: number): Match<T> | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    return node.methods.size === 0 ? undefined : { methods: node.methods, params: {} };
  }
  const fixed = node.fixed.get(segment);
  const exact = fixed === undefined ? undefined : find(fixed, segments, at + 1);
  if (exact !== undefined || node.variable === undefined || segment === "") return exact;
  const match = find(node.variable.node, segments, at + 1);
  if (match === undefined) return undefined;
  return { ...match, params: { ...match.params, [node.variable.name]: segment } };
}
