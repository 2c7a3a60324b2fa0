import { Buffer } from "node:buffer";
import { StackwrightError } from "../../model/mod.ts";
import type { TreeEntry } from "../source.ts";

/** One line of `git ls-tree -r -l`: an entry with the size of its content in bytes. */
export interface ListedEntry extends TreeEntry {
  /** 0 for a submodule. */
  readonly size: number;
}

/** Reads a tree object: entries by name, of this directory only. */
export function parseTreeObject(bytes: Uint8Array): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const mode = new TextDecoder().decode(bytes.subarray(at, space));
    const name = new TextDecoder().decode(bytes.subarray(space + 1, end));
    const id = Buffer.from(bytes.subarray(end + 1, end + 21)).toString("hex");
    entries.set(name, { kind: kindOf(mode), id });
    at = end + 21;
  }
  return entries;
}

/**
 * Reads the output of `git ls-tree -r -l -z`: entries by path.
 *
 * Throws `source_invalid` for a name that is not UTF-8 or that no checkout may create.
 */
export function parseTreeListing(bytes: Uint8Array): Map<string, ListedEntry> {
  const entries = new Map<string, ListedEntry>();
  for (let at = 0; at < bytes.length;) {
    const stop = bytes.indexOf(0, at);
    const end = stop < 0 ? bytes.length : stop;
    const [mode = "", , id = "", size = "", path = ""] = fields(bytes.subarray(at, end));
    checkPath(path);
    entries.set(path, { kind: kindOf(mode), id, size: Number(size) || 0 });
    at = end + 1;
  }
  return entries;
}

function fields(line: Uint8Array): string[] {
  const tab = line.indexOf(0x09);
  const head = new TextDecoder().decode(line.subarray(0, tab)).split(/ +/);
  return [...head, decodePath(line.subarray(tab + 1))];
}

function decodePath(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const shown = JSON.stringify(new TextDecoder().decode(bytes));
    throw new StackwrightError(
      "source_invalid",
      `the name of ${shown} is not UTF-8; rename the file in the repository`,
    );
  }
}

function checkPath(path: string): void {
  const bad = path.split("/").find((part) =>
    part === "" || part === "." || part === ".." || part.toLowerCase() === ".git"
  );
  if (bad === undefined) return;
  throw new StackwrightError(
    "source_invalid",
    `the tree holds ${JSON.stringify(path)}, a name that no checkout may create`,
  );
}

/** Git knows only these kinds; older tools wrote other permission bits, which it ignores too. */
function kindOf(mode: string): TreeEntry["kind"] {
  const bits = Number.parseInt(mode, 8);
  switch (bits & 0o170000) {
    case 0o040000:
      return "directory";
    case 0o120000:
      return "symlink";
    case 0o160000:
      return "submodule";
    default:
      return (bits & 0o100) === 0 ? "file" : "executable";
  }
}
