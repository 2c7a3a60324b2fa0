import { withoutEnd } from "../../model/mod.ts";
import { parseRepositoryUrl, type RepositoryUrl } from "./repository_url.ts";

/** From a URL, a prefix of URLs or a host to what replaces it (`SOURCE_URL_REWRITES`). */
export type UrlRewrites = Readonly<Record<string, string>>;

/** The parts of a URL that rewrite rules compare. */
interface Written {
  /** Lower-case, without `://`; `ssh` for the short form, empty for a key without one. */
  readonly scheme: string;
  /** Empty without one. */
  readonly user: string;
  /** Lower-case host, with `:port` where there is one. */
  readonly host: string;
  /** Without a leading slash. */
  readonly path: string;
  /** `user@host:path`. */
  readonly isShort: boolean;
}

/**
 * The URL that an operator's rules put in the place of `url`, or `undefined` when none matches. The
 * longest key wins and only one rule is applied. Hosts are compared without regard to case, paths
 * with it, and a prefix only ends where a part of a path ends. Credentials of the replaced URL are
 * dropped: they were meant for the other host.
 */
export function rewriteUrl(url: string, rewrites: UrlRewrites): string | undefined {
  return createUrlRewriter(rewrites)(url);
}

/** {@link rewriteUrl} for many URLs: the rules are read once, and found by their host. */
export function createUrlRewriter(rewrites: UrlRewrites): (url: string) => string | undefined {
  const rules = rulesByHost(rewrites);
  return (url) => {
    const written = takeApart(url.trim());
    if (written === undefined) return undefined;
    for (const { prefix, replacement } of rules.get(written.host) ?? []) {
      const rest = restBehind(written, prefix);
      if (rest !== undefined) return join(replacement, rest, written);
    }
    return undefined;
  };
}

/** The URL after the rules were applied. Throws `bad_request` when that is no repository. */
export function reach(url: string, rewrites: UrlRewrites): RepositoryUrl {
  return parseRepositoryUrl(rewriteUrl(url, rewrites) ?? url);
}

/** Hosts, with their ports, that rules lead to. */
export function rewriteHosts(rewrites: UrlRewrites): string[] {
  const hosts = Object.values(rewrites).map((replacement) =>
    takeApart(replacement)?.host ?? (isHost(replacement) ? replacement.toLowerCase() : "")
  );
  return [...new Set(hosts)].filter((host) => host !== "");
}

/** The prefix that a rule's key matches; an empty scheme, user or path matches any. */
type Prefix = Omit<Written, "isShort">;

interface Rule {
  readonly prefix: Prefix;
  readonly replacement: string;
}

/** The rules of each host, the longest key first. */
function rulesByHost(rewrites: UrlRewrites): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>();
  const entries = Object.entries(rewrites).sort(([a], [b]) => b.length - a.length);
  for (const [key, replacement] of entries) {
    const prefix = prefixOf(key);
    if (prefix === undefined) continue;
    const others = rules.get(prefix.host);
    if (others === undefined) rules.set(prefix.host, [{ prefix, replacement }]);
    else others.push({ prefix, replacement });
  }
  return rules;
}

function prefixOf(key: string): Prefix | undefined {
  if (isHost(key)) return { host: key.toLowerCase(), scheme: "", user: "", path: "" };
  const whole = takeApart(key);
  const prefix = whole ?? takeApart(`any://${key}`);
  if (prefix === undefined) return undefined;
  const scheme = whole === undefined ? "" : prefix.scheme;
  return { host: prefix.host, scheme, user: prefix.user, path: withoutEnd(prefix.path, "/") };
}

/** The rest of a path behind a prefix that matches. */
function restBehind(url: Written, { scheme, user, path }: Prefix): string | undefined {
  if (scheme !== "" && scheme !== url.scheme) return undefined;
  if (user !== "" && user !== url.user) return undefined;
  if (path === "" || url.path === path) return path === "" ? url.path : "";
  if (url.path === `${path}.git`) return "";
  return url.path.startsWith(`${path}/`) ? url.path.slice(path.length + 1) : undefined;
}

function join(replacement: string, rest: string, url: Written): string {
  const bare = replacement.trim();
  if (isHost(bare)) {
    const user = url.user === "" || !url.scheme.startsWith("ssh") ? "" : `${url.user}@`;
    return url.isShort && !bare.includes(":")
      ? `${user}${bare}:${rest}`
      : `${url.scheme}://${user}${bare}/${rest}`;
  }
  if (rest === "") return bare;
  return /[/:]$/.test(bare) ? bare + rest : `${bare}/${rest}`;
}

function takeApart(url: string): Written | undefined {
  const long = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/]*)@)?([^/@]*)(?:\/(.*))?$/is.exec(url);
  if (long !== null) {
    return {
      scheme: (long[1] ?? "").toLowerCase(),
      user: (long[2] ?? "").replace(/:.*$/s, ""),
      host: (long[3] ?? "").toLowerCase(),
      path: (long[4] ?? "").replace(/^\/+/, ""),
      isShort: false,
    };
  }
  const short = /^([^@/:\s]+)@([^/:@\s]+):(?!\/\/)(.*)$/s.exec(url);
  if (short === null) return undefined;
  const [, user = "", host = "", path = ""] = short;
  return {
    scheme: "ssh",
    user,
    host: host.toLowerCase(),
    path: path.replace(/^\/+/, ""),
    isShort: true,
  };
}

/** `host` or `host:port`. */
function isHost(text: string): boolean {
  return /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d+)?$/i.test(text.trim());
}
