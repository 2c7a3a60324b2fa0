import { isConfigFileName } from "../../config/mod.ts";

/**
 * All that the name of a file decides about its reading: how it may be encrypted, and what of it
 * must not be shown. Equal bytes of one kind are read alike, whoever has them, so that whoever
 * remembers something about bytes has to remember it by kind.
 */
export type FileKind = "configuration" | "yaml" | "json" | "other";

/** The kind of a file; `name` may be a path. */
export function fileKind(name: string): FileKind {
  if (isConfigFileName(name.slice(name.lastIndexOf("/") + 1))) return "configuration";
  if (/\.ya?ml$/i.test(name)) return "yaml";
  return /\.json$/i.test(name) ? "json" : "other";
}
