import { join } from "node:path/posix";
import type { Revision, SourceLocation } from "../../model/mod.ts";
import type { SourceLayout } from "../source.ts";

/** Names inside the directory of a source; directories of source names are kept apart from them. */
const RESERVED = new Set(["mirror", "trees", "submodules"]);

/** One more mirror of a source, beside those of its submodules, which are named after digests. */
const PLAIN_MIRROR = "submodules/http";

/** The layout below a data directory, with the places only the Git source knows. */
export interface GitLayout extends SourceLayout {
  /**
   * Bare mirror of a source. Plain http has its own: an attacker who answers there in place of the host
   * could otherwise get what was fetched over https or ssh, by naming its commits.
   */
  mirror(location: SourceLocation): string;
  /** Directory that holds one tree per revision. */
  trees(location: SourceLocation): string;
  /** Directory that holds one bare mirror per submodule URL. */
  submodules(location: SourceLocation): string;
}

/** `<dataDir>/sources/<name>/{mirror,trees/<id>,submodules}`. Pure; nothing is created. */
export function createLayout(dataDir: string): GitLayout {
  const directory = (location: SourceLocation) =>
    join(dataDir, "sources", ...location.name.split("/").map(component));
  const trees = (location: SourceLocation) => join(directory(location), "trees");
  return {
    directory,
    trees,
    mirror: (location) =>
      join(directory(location), /^http:/i.test(location.url) ? PLAIN_MIRROR : "mirror"),
    submodules: (location) => join(directory(location), "submodules"),
    tree: (revision: Revision) => join(trees(revision.source), revision.id.replace(":", "-")),
  };
}

/**
 * One part of a source name as a directory. `owner/mirror` must not lie inside the mirror of
 * `owner`, so reserved names get a sign that no other name can have.
 */
function component(part: string): string {
  const escaped = part.replaceAll("%", "%25");
  return RESERVED.has(part) ? `${escaped}%` : escaped;
}
