import type { SourceRequest } from "../model/mod.ts";

/** From a lower-case URL, prefix or host to its replacement, as SOURCE_URL_REWRITES has them. */
export type UrlRewrites = Readonly<Record<string, string>>;

const WEB = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)(.*)$/is;
const SCP = /^(?:[^@/:\s]+@)?(\[[0-9a-f:.]+\]|[^/:@\s]+):(?!\/\/)(.+)$/i;

/**
 * The URL that a rewrite makes of `url`; `undefined` when none applies. The longest key wins. A key
 * with `://` or a path is a prefix, which is replaced; any other is a host, with or without port, of
 * a URL or of the scp form, and scheme, user and host are replaced.
 *
 * Hosts are compared whatever their case, and so are prefixes: two repositories whose paths differ in
 * nothing but case are not told apart. Not to be applied to its own result.
 */
export function rewriteSourceUrl(url: string, rewrites: UrlRewrites): string | undefined {
  const text = url.trim();
  const keys = Object.keys(rewrites).sort((a, b) => b.length - a.length);
  for (const key of keys) {
    const target = rewrites[key] ?? "";
    const rewritten = isPrefix(key) ? byPrefix(text, key, target) : byHost(text, key, target);
    if (rewritten !== undefined) return rewritten;
  }
  return undefined;
}

/** The request with its URL rewritten, where it is a Git repository's and a rewrite applies. */
export function rewrittenRequest(request: SourceRequest, rewrites: UrlRewrites): SourceRequest {
  if (request.kind !== "git") return request;
  return { ...request, url: rewriteSourceUrl(request.url, rewrites) ?? request.url };
}

function isPrefix(key: string): boolean {
  return key.includes("/") || key.includes("@");
}

/** A prefix ends where a part of a path ends: `https://host/acme` does not match `…/acme-evil`. */
function byPrefix(url: string, key: string, target: string): string | undefined {
  if (!url.toLowerCase().startsWith(key)) return undefined;
  const rest = url.slice(key.length);
  const ends = rest === "" || /[/:]$/.test(key) || /^(?:[/:]|\.git$)/.test(rest);
  return ends ? target + rest : undefined;
}

function byHost(url: string, key: string, target: string): string | undefined {
  const web = WEB.exec(url);
  if (web !== null) {
    return web[2]?.toLowerCase() === key ? joined(target, web[3] ?? "") : undefined;
  }
  const scp = SCP.exec(url);
  return scp?.[1]?.toLowerCase() === key ? joined(target, scp[2] ?? "") : undefined;
}

/** A target may be a host, a URL's beginning, or the beginning of an scp form (`git@host:`). */
function joined(target: string, path: string): string {
  const rest = path.replace(/^\/+/, "");
  if (target.endsWith(":")) return target + rest;
  const base = /^[a-z][a-z0-9+.-]*:\/\//i.test(target) || target.startsWith("/") ||
      target.includes("@")
    ? target
    : `https://${target}`;
  const separator = /^[^/]+@[^/:]+$/.test(base) ? ":" : "/";
  return base.replace(/\/+$/, "") + separator + rest;
}
