import { createHash } from "node:crypto";
import { join } from "node:path/posix";
import type { SourceLocation } from "../../model/mod.ts";
import type { RepositoryUrl } from "../git/repository_url.ts";
import type { SourceLayout } from "../source.ts";

/** Names inside the directory of a source; directories of source names are kept apart from them. */
const RESERVED = new Set(["mirror", "trees", "submodules"]);

type Remote = Pick<RepositoryUrl, "remote">;
type Login = Pick<RepositoryUrl, "remote" | "user" | "password">;

/** The layout below a data directory, with the places only the Git source knows. */
export interface GitLayout extends SourceLayout {
  /**
   * Bare mirror of what a source has at a URL after rewrites. Each URL has its own: those with one
   * source name need not lead to one server (ssh beside https, plain http that anybody may answer).
   * Otherwise one could have its commits deployed in the name of another, or get what was fetched from
   * another, by commit ids.
   */
  mirror(location: SourceLocation, url: Remote): string;
  /**
   * Bare mirror of what submodules of a source have at a URL after rewrites, for each login: without
   * the network nobody can ask whether one may have what another one fetched.
   */
  submodule(location: SourceLocation, url: Login): string;
  /** Directory that holds one tree per revision. */
  trees(location: SourceLocation): string;
}

/** `<dataDir>/sources/<name>/{trees/<id>,mirror/<url>,submodules/<url>}`. Pure; nothing is created. */
export function createLayout(dataDir: string): GitLayout {
  const directory = (location: SourceLocation) =>
    join(dataDir, "sources", ...location.name.split("/").map(component));
  const trees = (location: SourceLocation) => join(directory(location), "trees");
  return {
    directory,
    trees,
    mirror: (location, url) => join(directory(location), "mirror", digest(url.remote)),
    submodule: (location, { remote, user, password }) =>
      join(directory(location), "submodules", digest(JSON.stringify([remote, user, password]))),
    tree: ({ source, id }) => join(trees(source), id.replace(":", "-")),
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * One part of a source name as a directory. `owner/mirror` must not lie inside the mirror of
 * `owner`, so reserved names get a sign that no other name can have.
 */
function component(part: string): string {
  const escaped = part.replaceAll("%", "%25");
  return RESERVED.has(part) ? `${escaped}%` : escaped;
}
