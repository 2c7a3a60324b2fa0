import { StackwrightError } from "../model/mod.ts";
import { parseRepositoryUrl, type RepositoryUrl } from "./repository_url.ts";

/** URLs by path, from the output of `git config --blob=<.gitmodules> -z --list`. */
export function parseSubmoduleConfig(output: string): ReadonlyMap<string, string> {
  const byName = new Map<string, { path?: string; url?: string }>();
  for (const record of output.split("\0")) {
    const [, name = "", key = "", value = ""] =
      /^submodule\.([\s\S]*)\.(path|url)\n([\s\S]*)$/.exec(record) ?? [];
    if (key !== "") byName.set(name, { ...byName.get(name), [key]: value });
  }
  const urls = new Map<string, string>();
  for (const { path, url } of byName.values()) {
    if (path !== undefined && url !== undefined) urls.set(path.replace(/\/+$/, ""), url);
  }
  return urls;
}

/**
 * Where a submodule lies: relative URLs (`./x`, `../x`) start at the parent's remote.
 *
 * Throws `bad_request` for a URL that is none, and for a place on this machine unless the parent is
 * on this machine too: authors of a remote repository must not read what this service can read.
 */
export function submoduleUrl(url: string, parent: RepositoryUrl): RepositoryUrl {
  const absolute = /^\.\.?(?:\/|$)/.test(url) ? climb(parent.remote, url) : url;
  const parsed = parseRepositoryUrl(absolute);
  if (parsed.scheme === "file" && parent.scheme !== "file") {
    throw new StackwrightError(
      "bad_request",
      `the submodule URL ${JSON.stringify(url)} is a path on this machine; ` +
        "only repositories on this machine may refer to others by path",
    );
  }
  return parsed;
}

function climb(remote: string, relative: string): string {
  const scp = /^([^/]*?:)(?!\/\/)(.*)$/.exec(remote);
  const root = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(remote)?.[0] ?? scp?.[1] ?? "";
  const parts = remote.slice(root.length).split("/").filter((part) => part !== "");
  for (const part of relative.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") {
      parts.push(part);
    } else if (parts.pop() === undefined) {
      throw new StackwrightError(
        "bad_request",
        `the submodule URL ${JSON.stringify(relative)} climbs above its host`,
      );
    }
  }
  const path = parts.join("/");
  return scp !== null && root === scp[1] && !remote.slice(root.length).startsWith("/")
    ? root + path
    : `${root}/${path}`;
}
