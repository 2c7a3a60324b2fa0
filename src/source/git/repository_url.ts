import { CONTROL, LONGEST_URL } from "../../config/repository_url.ts";
import { clip, errors, type StackwrightError, withoutEnd } from "../../model/mod.ts";
import { isAddress6 } from "../../system/mod.ts";

/** Schemes by which repositories are reached. */
export type RepositoryScheme = "http" | "https" | "ssh" | "file";

/** The parts of a repository URL, whichever of the accepted forms it was written in. */
export interface RepositoryUrl {
  readonly scheme: RepositoryScheme;
  /** Lower-case host name; empty for `file`. */
  readonly host: string;
  /** Empty for the default port of the scheme. */
  readonly port: string;
  /** Decoded; empty when the URL has none. */
  readonly user: string;
  /** Decoded; a secret. */
  readonly password: string;
  /**
   * Decoded path without slashes at its ends, and without `.git`: hosts serve one repository by both. For
   * `file` absolute, with its `.git`: `shop` and `shop.git` beside each other are two.
   */
  readonly path: string;
  /** The URL as git gets it: without the password, and for http without the user. */
  readonly remote: string;
  /** Whose work asks there, by which what it takes is counted; absent in what was just parsed. */
  readonly by?: string;
}

/** The default port of each scheme; empty for `file`. */
export const DEFAULT_PORTS: Readonly<Record<RepositoryScheme, string>> = {
  http: "80",
  https: "443",
  ssh: "22",
  file: "",
};
/** Parts of a path: each is a directory on disk, and GitLab nests groups to twenty levels. */
const MOST_PARTS = 50;
const SCP = /^(?:([^@/:]+)@)?(\[[0-9a-fA-F:.]+\]|[^/:@]+):(?!\/\/)(.+)$/;
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?)$/;

/**
 * Reads a repository URL: `http(s)://`, `ssh://`, `user@host:path`, `file://` or an absolute path.
 *
 * Throws `bad_request` for other forms, and for texts that git could take for an option, that climb out
 * of a directory or that hold control characters. The message never holds credentials.
 */
export function parseRepositoryUrl(url: string): RepositoryUrl {
  const text = url.trim();
  if (text.length > LONGEST_URL) throw refused("", `it has more than ${LONGEST_URL} characters`);
  if (text === "" || CONTROL.test(text) || text.startsWith("-")) {
    throw refused(text, "it is empty, starts with a dash or holds control characters");
  }
  if (text.startsWith("/")) return localUrl(text, text);
  if (/^file:\/\//i.test(text)) return fileUrl(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return remoteUrl(text);
  const scp = SCP.exec(text);
  // Without a user, `name:password@host` would be read as a path that shows the password.
  const isUnclear = scp?.[1] === undefined && scp?.[3]?.includes("@") === true;
  if (scp === null || isUnclear || text.includes("::")) {
    throw refused(
      text,
      "write https://host/owner/repo, ssh://git@host/owner/repo, git@host:owner/repo or an absolute path",
    );
  }
  return scpUrl(text, scp);
}

function fileUrl(text: string): RepositoryUrl {
  const rest = text.slice("file://".length).replace(/^localhost(?=\/)/i, "");
  if (!rest.startsWith("/")) throw refused(text, "a file URL needs an absolute path: file:///path");
  return localUrl(decode(rest, text), text);
}

function localUrl(path: string, text: string): RepositoryUrl {
  const kept = path.replace(/\/+/g, "/").replace(/(?<=.)\/$/, "");
  checkPath(kept, text);
  if (kept === "/") throw refused(text, "the root directory is no repository");
  const empty = { host: "", port: "", user: "", password: "" };
  return { scheme: "file", ...empty, path: kept, remote: kept };
}

function remoteUrl(text: string): RepositoryUrl {
  const match = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/]*)@)?([^/@]*)(\/.*)?$/i.exec(text);
  const scheme = (match?.[1] ?? "").toLowerCase();
  if (scheme !== "http" && scheme !== "https" && scheme !== "ssh") {
    throw refused(text, `the scheme ${scheme} is not supported; use https, http, ssh or file`);
  }
  const rawPath = match?.[4] ?? "";
  if (/[?#]/.test(rawPath)) throw refused(text, "it has a query or a fragment");
  // To a server it may be another repository than the one that has the same name here.
  if (/%2f/i.test(rawPath)) throw refused(text, "its path holds an escaped slash");
  const { host, port } = splitHost(match?.[3] ?? "", text);
  if (scheme !== "ssh") checkReadAlike(host, rawPath, text);
  const [user = "", password = ""] = splitOnce(match?.[2] ?? "", ":").map((part) =>
    decode(part, text)
  );
  checkUser(user, text);
  // Helpers hand it to git in lines, and no environment holds a NUL.
  if (CONTROL.test(password)) throw refused(text, "its password holds control characters");
  const kept = port === DEFAULT_PORTS[scheme] ? "" : port;
  const path = decode(rawPath, text);
  checkPath(path, text);
  const authority = host + (kept === "" ? "" : `:${kept}`);
  if (scheme === "ssh") checkOneHost(user, path, text);
  const account = scheme === "ssh" ? `${user === "" ? "git" : encodeURIComponent(user)}@` : "";
  return {
    scheme,
    host,
    port: kept,
    user,
    password,
    path: repositoryPath(path, text),
    remote: `${scheme}://${account}${authority}${withoutEnd(rawPath, "/")}`,
  };
}

function scpUrl(text: string, scp: RegExpExecArray): RepositoryUrl {
  const user = scp[1] ?? "";
  const { host } = splitHost(scp[2] ?? "", text);
  const path = scp[3] ?? "";
  // Of `X~user` git drops the first character and passes `~user` on.
  if (path[1] === "~" && path[0] !== "/") throw refused(text, 'its path has "~" in second place');
  checkUser(user, text);
  checkPath(path, text);
  checkOneHost(user, path, text);
  return {
    scheme: "ssh",
    host,
    port: "",
    user,
    password: "",
    path: repositoryPath(path, text),
    remote: `${user === "" ? "git" : user}@${host}:${withoutEnd(path, "/")}`,
  };
}

function splitHost(authority: string, text: string): { host: string; port: string } {
  const match = /^(.*?)(?::(\d*))?$/.exec(authority);
  const host = (match?.[1] ?? "").toLowerCase();
  const port = match?.[2] ?? "";
  // Git takes brackets around anything, also around a name, or a host and its port.
  const inBrackets = /^\[(.*)\]$/.exec(host)?.[1];
  if (!HOST.test(host) || (inBrackets !== undefined && !isAddress6(inBrackets))) {
    throw refused(text, "its host name is not valid");
  }
  if (port !== "" && (Number(port) < 1 || Number(port) > 65535)) {
    throw refused(text, "its port is not valid");
  }
  return { host, port: port === "" ? "" : String(Number(port)) };
}

/**
 * Refuses what our client of HTTP reads in another way than git does: it takes a backslash for a slash, and
 * numbers for addresses. The name is that of what is written, and it may be what neither asks for.
 */
function checkReadAlike(host: string, rawPath: string, text: string): void {
  if (rawPath.includes("\\")) throw refused(text, "its path holds a backslash");
  if (host.startsWith("[")) return;
  const read = URL.parse(`http://${host}/`)?.hostname;
  if (read === undefined) throw refused(text, "its host name is not valid");
  if (read !== host) throw refused(text, `its host is read as ${read}, so write that`);
}

function repositoryPath(path: string, text: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.length > MOST_PARTS) throw refused(text, `its path has more than ${MOST_PARTS} parts`);
  const kept = withoutSuffix(parts.join("/"));
  if (kept === "" || kept === ".git") throw refused(text, "it names a host but no repository");
  return kept;
}

/** A path without `.git` at its end, in letters of either case. */
export function withoutSuffix(path: string): string {
  return path.replace(/(?<=[^/])\.git$/i, "");
}

function checkUser(user: string, text: string): void {
  if (user.startsWith("-") || CONTROL.test(user)) throw refused(text, "its user name is not valid");
}

/**
 * Git finds the host of an SSH URL in the decoded text, and looks for brackets behind `@` in all of it:
 * it could connect to another host than the one read here, with the key for this one.
 */
function checkOneHost(user: string, path: string, text: string): void {
  if (/[/:[\]]/.test(user)) throw refused(text, "its user name is not valid");
  if (path.includes("@[")) throw refused(text, 'its path holds "@["');
}

function checkPath(path: string, text: string): void {
  if (CONTROL.test(path)) throw refused(text, "its path holds control characters");
  if (path.startsWith("-")) throw refused(text, "its path starts with a dash");
  for (const part of path.split("/")) {
    if (part === ".." || part === ".") throw refused(text, `its path holds "${part}"`);
    if (/\.lock$/i.test(part)) throw refused(text, "a part of its path ends in .lock");
    if (new TextEncoder().encode(part).length > 200) throw refused(text, "its path is too long");
  }
}

function decode(text: string, whole: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused(whole, "it has a broken percent escape");
  }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** The error shows the URL without the text before its last `@`, which may hold secrets. */
function refused(text: string, why: string): StackwrightError {
  const shown = JSON.stringify(
    clip(text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1").replace(/[?#].*$/s, ""), 200),
  );
  return errors.bad_request(`${shown} is no repository URL: ${why}`, {
    told: `it is no repository URL: ${why}`,
  });
}
