/** One request that reached an engine. */
export interface EngineCall {
  readonly method: string;
  /** Path with query, without the API version in front. */
  readonly path: string;
  readonly mutating: boolean;
}

const NOT_MUTATING = [
  /^\/containers\/[^/]+\/(?:wait|attach|resize)$/,
  /^\/auth$/,
  /^\/session$/,
  /^\/grpc$/,
];
const PULL = /^\/images\/create$/;

/** A request as it is recorded, from its method and target. */
export function describeCall(method: string, target: string): EngineCall {
  const path = target.replace(/^\/v\d+\.\d+(?=\/)/, "");
  return { method, path, mutating: isMutating(method, path) };
}

/** Whether a call pulls an image. Pulls are counted apart: one that finds nothing new changes nothing. */
export function isPull(call: EngineCall): boolean {
  return call.method === "POST" && PULL.test(withoutQuery(call.path));
}

function isMutating(method: string, path: string): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const route = withoutQuery(path);
  return !PULL.test(route) && !NOT_MUTATING.some((pattern) => pattern.test(route));
}

function withoutQuery(path: string): string {
  return path.split("?")[0] ?? path;
}
