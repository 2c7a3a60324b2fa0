import { parseRepositoryUrl, type RepositoryUrl } from "./repository_url.ts";

/** From a URL, a prefix of URLs or a host to what replaces it (`SOURCE_URL_REWRITES`). */
export type UrlRewrites = Readonly<Record<string, string>>;

/** A URL taken apart as far as rules look at it. */
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
  const written = takeApart(url.trim());
  if (written === undefined) return undefined;
  const keys = Object.keys(rewrites).sort((a, b) => b.length - a.length);
  for (const key of keys) {
    const target = rewrites[key];
    const rest = target === undefined ? undefined : restBehind(written, key);
    if (target !== undefined && rest !== undefined) return join(target, rest, written);
  }
  return undefined;
}

/** Where a URL leads once the rules were applied. Throws `bad_request` when that is no repository. */
export function reach(url: string, rewrites: UrlRewrites): RepositoryUrl {
  return parseRepositoryUrl(rewriteUrl(url, rewrites) ?? url);
}

/** Hosts, with their ports, that rules lead to. */
export function rewriteHosts(rewrites: UrlRewrites): string[] {
  const hosts = Object.values(rewrites).map((target) =>
    takeApart(target)?.host ?? (isHost(target) ? target.toLowerCase() : "")
  );
  return [...new Set(hosts)].filter((host) => host !== "");
}

/** What of the path is left behind a key that matches. */
function restBehind(url: Written, key: string): string | undefined {
  if (isHost(key)) return key.toLowerCase() === url.host ? url.path : undefined;
  const prefix = takeApart(key) ?? takeApart(`any://${key}`);
  if (prefix === undefined || prefix.host !== url.host) return undefined;
  if (prefix.scheme !== "any" && prefix.scheme !== url.scheme) return undefined;
  if (prefix.user !== "" && prefix.user !== url.user) return undefined;
  const path = prefix.path.replace(/\/+$/, "");
  if (path === "" || url.path === path) return path === "" ? url.path : "";
  if (url.path === `${path}.git`) return "";
  return url.path.startsWith(`${path}/`) ? url.path.slice(path.length + 1) : undefined;
}

function join(target: string, rest: string, url: Written): string {
  const bare = target.trim();
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
