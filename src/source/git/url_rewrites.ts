import { percentDecoded } from "../../model/mod.ts";
import {
  DEFAULT_PORTS,
  parseRepositoryUrl,
  type RepositoryUrl,
  withoutSuffix,
} from "./repository_url.ts";

/** From a URL, a prefix of URLs or a host to what replaces it (`SOURCE_URL_REWRITES`). */
export type UrlRewrites = Readonly<Record<string, string>>;

const PORTS: ReadonlyMap<string, string> = new Map(Object.entries(DEFAULT_PORTS));
const LONG = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/]*)@)?([^/@]*?)(?::(\d*))?(?:\/(.*))?$/is;
const SHORT = /^(?:([^@/:\s]+)@)?(\[[0-9a-f:.]+\]|[^/:@\s]+):(?!\/\/)(.*)$/is;

/** The parts of a URL that rewrite rules compare. */
interface Written {
  /** Lower-case, without `://`; `ssh` for the short form, empty for a key without one. */
  readonly scheme: string;
  /** As written; empty without one. */
  readonly user: string;
  /** Lower-case, without the port. */
  readonly host: string;
  /** Without leading zeros; empty without one. */
  readonly port: string;
  /** Decoded, without empty parts. */
  readonly path: string;
  /** `user@host:path`, or `host:path`. */
  readonly isShort: boolean;
}

/**
 * The URL that an operator's rules put in the place of `url`, or `undefined` when none matches. The
 * longest key wins and only one rule is applied. Hosts are compared without regard to case, paths
 * with it, and a prefix only ends where a part of a path ends. All spellings that give a repository
 * one name are compared alike (default ports, escapes, doubled slashes, `.git`): none avoids a rule.
 * Credentials of the replaced URL are dropped: they were meant for the other host.
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

/**
 * Addresses that the rules put in the place of those of a source, given by its name, in all schemes: a
 * manager that notes which URL it fetched from notes one of these.
 */
export function reachedAs(
  source: string,
  rewrite: (url: string) => string | undefined,
): readonly string[] {
  const address = source.replace(
    /^([^/]+)_(\d+)\//,
    (_, host, port) => port === "0" ? `${host}/` : `${host}:${port}/`,
  );
  // A name has no `.git`, and a rule may lead to this machine, where it counts.
  const ways = ["https://", "http://", "ssh://"].flatMap((scheme) =>
    ["", ".git"].map((suffix) => rewrite(scheme + address + suffix))
  );
  return ways.filter((each) => each !== undefined);
}

/** Hosts, with their ports, that rules lead to. */
export function rewriteHosts(rewrites: UrlRewrites): string[] {
  const hosts = Object.values(rewrites).map((replacement) => {
    if (isHost(replacement)) return replacement.toLowerCase();
    const { host = "", port = "" } = takeApart(replacement) ?? {};
    return port === "" ? host : `${host}:${port}`;
  });
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
    rules.getOrInsertComputed(prefix.host, () => []).push({ prefix, replacement });
  }
  return rules;
}

function prefixOf(key: string): Prefix | undefined {
  const isBare = /^(?:\[[^/@]*\]|[^/@:]*)(?::\d+)?(?:\/|$)/.test(key);
  const whole = isBare ? undefined : takeApart(key);
  const prefix = whole ?? takeApart(`any://${key}`);
  return prefix === undefined || whole !== undefined ? prefix : { ...prefix, scheme: "" };
}

/** The rest of a path behind a prefix that matches. */
function restBehind(url: Written, { scheme, user, port, path }: Prefix): string | undefined {
  if (scheme !== "" && scheme !== url.scheme) return undefined;
  if (user !== "" && percentDecoded(user) !== percentDecoded(url.user || accountOf(url))) {
    return undefined;
  }
  const usual = PORTS.get(url.scheme) ?? "";
  if ((port || usual) !== (url.port || usual)) return undefined;
  if (path === "") return url.path;
  if (withoutSuffix(url.path) === withoutSuffix(path)) return "";
  return url.path.startsWith(`${path}/`) ? url.path.slice(path.length + 1) : undefined;
}

/** Git's account on a host whose URL names none. */
function accountOf({ scheme }: Written): string {
  return scheme === "ssh" ? "git" : "";
}

function join(replacement: string, rest: string, url: Written): string {
  const bare = replacement.trim();
  if (isHost(bare)) {
    const user = url.user === "" || !url.scheme.startsWith("ssh") ? "" : `${url.user}@`;
    return url.isShort && !bare.includes(":")
      ? `${user}${bare}:${rest}`
      : `${url.scheme}://${user}${bare}/${escaped(rest)}`;
  }
  if (rest === "") return bare;
  const end = bare.includes("://") ? escaped(rest) : rest;
  return /[/:]$/.test(bare) ? bare + end : `${bare}/${end}`;
}

function takeApart(url: string): Written | undefined {
  const long = LONG.exec(url);
  const short = long === null ? SHORT.exec(url) : null;
  const [, scheme = "", user = "", host, port = "", path = ""] = long ??
    [url, "ssh", short?.[1], short?.[2], "", short?.[3]];
  if (host === undefined) return undefined;
  return {
    scheme: scheme.toLowerCase(),
    user: user.replace(/:.*$/s, ""),
    host: host.toLowerCase(),
    port: port === "" ? "" : String(Number(port)),
    path: (long === null ? path : percentDecoded(path)).split("/").filter((part) => part !== "")
      .join("/"),
    isShort: long === null,
  };
}

/** A decoded path as a part of a URL. */
function escaped(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

/** `host` or `host:port`. */
function isHost(text: string): boolean {
  return /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d+)?$/i.test(text.trim());
}
