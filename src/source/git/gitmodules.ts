import { errors, withoutEnd } from "../../model/mod.ts";
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
    if (path !== undefined && url !== undefined) urls.set(withoutEnd(path, "/"), url);
  }
  return urls;
}

/**
 * The URL of a submodule, before rewrites: relative URLs (`./x`, `../x`) start at the parent's
 * remote.
 *
 * `parent` is the parent's URL before rewrites: an operator's rewrite of one repository must not let
 * its author name others beside the new place.
 * `root` is the directory around the tree's source, when that source lies on this machine.
 *
 * Throws `bad_request` for a malformed URL, and for a path on this machine, because authors must not
 * read what this service can read. A relative URL that leads to a repository below `root` is allowed.
 */
export function submoduleUrl(
  url: string,
  parent: RepositoryUrl,
  root: string | undefined,
): RepositoryUrl {
  const isRelative = /^\.\.?(?:\/|$)/.test(url);
  const parsed = parseRepositoryUrl(isRelative ? climb(parent.remote, url) : url);
  if (parsed.scheme !== "file") return parsed;
  const isBeside = isRelative && root !== undefined && root !== "/" &&
    parsed.remote.startsWith(`${root}/`) && !`${parsed.remote}/`.startsWith(`${parent.remote}/`);
  if (isBeside) return parsed;
  const allowed = root === undefined || root === "/"
    ? "only a source on this machine, in a directory of its own, may have such submodules"
    : `a submodule on this machine has a relative URL that leads to another repository below ${root}`;
  throw errors.bad_request(
    `the submodule URL ${JSON.stringify(url)} is a path on this machine; ${allowed}`,
  );
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
      throw errors.bad_request(
        `the submodule URL ${JSON.stringify(relative)} climbs above its host`,
      );
    }
  }
  const path = parts.join("/");
  return scp !== null && root === scp[1] && !remote.slice(root.length).startsWith("/")
    ? root + path
    : `${root}/${path}`;
}
