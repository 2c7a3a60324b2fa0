import type { SourceRequest } from "../model/mod.ts";
import { parseRepositoryUrl } from "../source/mod.ts";

/** The path of a repository whose own URL names this machine; `undefined` for all others. */
export function localRepository({ kind, url }: SourceRequest): string | undefined {
  if (kind !== "git") return undefined;
  const { scheme, remote } = parseRepositoryUrl(url);
  return scheme === "file" ? remote : undefined;
}
