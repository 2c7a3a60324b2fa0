import type { SourceRequest } from "../model/mod.ts";
import { parseRepositoryUrl } from "../source/mod.ts";

/**
 * The path of a repository that its entry calls one of this machine; `undefined` for all others, also
 * for those that a rewrite leads here: their author asked for something else.
 */
export function localRepository({ kind, url }: SourceRequest): string | undefined {
  if (kind !== "git") return undefined;
  const { scheme, remote } = parseRepositoryUrl(url);
  return scheme === "file" ? remote : undefined;
}
