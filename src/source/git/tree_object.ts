import { Buffer } from "node:buffer";
import { clip, errors, LONGEST_SOURCE_PATH, type StackwrightError, utf8 } from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import type { TreeEntry } from "../source.ts";

/** One line of `git ls-tree -r -l`: an entry with the size of its content in bytes. */
export interface ListedEntry extends TreeEntry {
  /** 0 for a submodule. */
  readonly size: number;
}

/**
 * Files and directories a tree may have. Ten small objects of git make a tree of ten billion files; half
 * as many as are allowed here take seconds to look at.
 */
export const MOST_ENTRIES = 200_000;
/** Bytes or characters that are looked at before other tasks of the process get a turn. */
export const AT_ONCE = 512 * 1024;

/**
 * Reads a tree object: entries by name, of this directory only. Pauses during long ones. Throws
 * `source_invalid` for too many entries, and for a name that is too long.
 */
export async function parseTreeObject(bytes: Uint8Array): Promise<ReadonlyMap<string, TreeEntry>> {
  const pauses = createPauses(AT_ONCE);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < buffer.length;) {
    const space = buffer.indexOf(0x20, at);
    const end = buffer.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const mode = buffer.toString("latin1", at, space);
    const name = buffer.toString(
      "utf8",
      space + 1,
      Math.min(end, space + 2 + 3 * LONGEST_SOURCE_PATH),
    );
    if (name.length > LONGEST_SOURCE_PATH) throw tooLong(name, end - space - 1);
    entries.set(name, { kind: kindOf(mode), id: buffer.toString("hex", end + 1, end + 21) });
    if (entries.size > MOST_ENTRIES) throw tooManyEntries();
    await pauses.after(end + 21 - at);
    at = end + 21;
  }
  return entries;
}

/**
 * Reads the output of `git ls-tree -r -l -z`: entries by path. Pauses during long ones.
 *
 * Throws `source_invalid` for a name that is not UTF-8 or that no checkout may create, for two entries of
 * one name, and for more than {@link MOST_ENTRIES}.
 */
export async function parseTreeListing(bytes: Uint8Array): Promise<Map<string, ListedEntry>> {
  const text = decodeListing(bytes);
  const pauses = createPauses(AT_ONCE);
  const entries = new Map<string, ListedEntry>();
  let previous = "";
  const directories = new Set<string>();
  for (let at = 0; at < text.length;) {
    const stop = text.indexOf("\0", at);
    const end = stop < 0 ? text.length : stop;
    const tab = text.indexOf("\t", at);
    const [mode = "", , id = "", size = ""] = text.slice(at, tab).split(/ +/);
    const path = text.slice(tab + 1, end);
    checkPath(path);
    if (entries.has(path)) throw namedTwice(path);
    entries.set(path, { kind: kindOf(mode), id, size: Number(size) || 0 });
    for (const directory of newDirectories(previous, path)) directories.add(directory);
    if (entries.size + directories.size > MOST_ENTRIES) throw tooManyEntries();
    previous = path;
    await pauses.after(end + 1 - at);
    at = end + 1;
  }
  for (const directory of directories) if (entries.has(directory)) throw namedTwice(directory);
  return entries;
}

/** Parent directories of a path that are not parents of the previously listed path. */
export function newDirectories(previous: string, path: string): string[] {
  let common = 0;
  while (common < path.length && path[common] === previous[common]) common++;
  const found: string[] = [];
  for (let at = path.indexOf("/", common); at >= 0; at = path.indexOf("/", at + 1)) {
    found.push(path.slice(0, at));
  }
  return found;
}

/** Git itself makes no such tree, and a checkout could hold only one of the two. */
function namedTwice(path: string): StackwrightError {
  return errors.source_invalid(
    `the tree holds two entries of the name ${JSON.stringify(path)}; no git makes such a commit: ` +
      "check it with git fsck, and make it anew",
  );
}

/** The error for a tree with more than {@link MOST_ENTRIES}. */
export function tooManyEntries(more = ""): StackwrightError {
  const what = `more than ${MOST_ENTRIES} files and directories`;
  return errors.source_invalid(
    `the tree has ${what}${more}; deploy from a smaller repository`,
  );
}

function decodeListing(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder replaces invalid bytes by U+FFFD, which real names hardly contain.
    const lines = utf8(bytes).split("\0");
    const line = lines.find((each) => each.includes("\ufffd")) ?? "";
    const shown = JSON.stringify(clip(line.slice(line.indexOf("\t") + 1), 200));
    throw errors.source_invalid(
      `the name of ${shown} is not UTF-8; rename the file in the repository`,
    );
  }
}

function tooLong(path: string, length: number): StackwrightError {
  return errors.source_invalid(
    `the tree holds the path ${JSON.stringify(clip(path, 100))} of ${length} ` +
      `characters, the most is ${LONGEST_SOURCE_PATH}`,
  );
}

/** Requirement for a path of a tree, below submodules as well. Throws `source_invalid` for a long one. */
export function requireShort(path: string): void {
  if (path.length > LONGEST_SOURCE_PATH) throw tooLong(path, path.length);
}

function checkPath(path: string): void {
  requireShort(path);
  if (!/(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i.test(path)) return;
  throw errors.source_invalid(
    `the tree holds ${JSON.stringify(path)}, a name that no checkout may create`,
  );
}

/**
 * What git makes of any mode: all that is no file, link or directory is a submodule to it. Of permission
 * bits, which older tools wrote, it looks at one, and of longer numbers at the end.
 */
function kindOf(mode: string): TreeEntry["kind"] {
  const bits = Number.parseInt(mode.slice(-6), 8);
  switch (bits & 0o170000) {
    case 0o040000:
      return "directory";
    case 0o120000:
      return "symlink";
    case 0o100000:
      return (bits & 0o100) === 0 ? "file" : "executable";
    default:
      return "submodule";
  }
}
