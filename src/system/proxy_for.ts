import { isIP } from "node:net";

/** Proxies by the scheme of the URL, and hosts that are reached without. */
export interface Proxies {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  readonly noProxy: readonly string[];
}

/** The proxy for a URL; hosts of `noProxy` and this machine are reached without one. */
export function proxyFor(url: URL, proxy: Proxies | undefined): string | undefined {
  const chosen = url.protocol === "https:" ? proxy?.https ?? proxy?.http : proxy?.http;
  if (chosen === undefined || isLoopback(url.hostname)) return undefined;
  const direct = proxy?.noProxy.some((pattern) => matchesNoProxy(url, pattern.toLowerCase()));
  return direct === true ? undefined : chosen;
}

/** True for a URL's host that is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));
}

function matchesNoProxy(url: URL, pattern: string): boolean {
  if (pattern === "*" || pattern === url.host || pattern === url.hostname) return true;
  const suffix = pattern.replace(/^\*?\.?/, ".");
  return suffix.length > 1 && url.hostname.endsWith(suffix);
}
