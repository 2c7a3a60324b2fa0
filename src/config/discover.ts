import { posix } from "node:path";
import { errors, type StackwrightError, withoutEnd } from "../model/mod.ts";
import { configFileNames } from "./config_file_names.ts";

/** Directories that never hold stacks of their own. */
const IGNORED = new Set([".git", ".github", ".vscode", ".idea", "node_modules"]);

/**
 * The directories in which stacks are looked for. Paths are POSIX and relative to the root, `.` is
 * the root.
 */
interface DiscoveryScope {
  readonly workingDir: string;
  /** Levels below the working directory; 0 is unlimited. */
  readonly depth: number;
}

/** Rules by which a directory is a stack. */
export interface DiscoveryRules extends DiscoveryScope {
  /** Names of compose files; a directory with one of them is a stack. */
  readonly composeFiles: readonly string[];
  /**
   * Directory of the configuration file that declares this discovery, if it lies in the listed source:
   * that file is not the override of a stack there.
   */
  readonly configurationDir?: string;
}

/** A directory that is a stack. */
export interface DiscoveredDirectory {
  readonly path: string;
  /** Path of the stack's override, a configuration file in its directory. */
  readonly override?: string;
}

/** Most directories that are found, and most candidates that are looked at, before it is refused. */
const MOST_FOUND = 5000;
const MOST_LOOKS = 300_000;

function tooMany(workingDir: string): StackwrightError {
  return errors.config_invalid(
    `auto_discovery: too many files below ${workingDir} have a name of compose_files, and at most ` +
      "500 stacks are deployed of one repository and reference; look into fewer directories",
  );
}

/**
 * Finds the directories of a listing that are stacks: those that hold one of the compose files, at
 * most `depth` levels below the working directory. `listing` has every file, link and submodule by
 * path; links to directories are not followed, submodules not entered. A pure function, and the
 * order of the listing does not matter: parents come before their children, siblings by name.
 *
 * Throws `config_invalid` for too many directories.
 */
export function discoverDirectories(
  listing: ReadonlyMap<string, { readonly kind: string }>,
  rules: DiscoveryRules,
): DiscoveredDirectory[] {
  const found = new Set<string>();
  const names = namesByLength(rules.composeFiles);
  let looks = 0;
  for (const [path, { kind }] of listing) {
    if (!isFile(kind)) continue;
    for (const directory of directoriesOf(path, names)) {
      if (++looks > MOST_LOOKS || found.size > MOST_FOUND) throw tooMany(rules.workingDir);
      if (!found.has(directory) && inScope(directory, rules)) found.add(directory);
    }
  }
  return sortedByPath(found).map((path) => {
    const override = path === rules.configurationDir ? undefined : overrideIn(listing, path);
    return override === undefined ? { path } : { path, override };
  });
}

/** True when a directory is one that a discovery looks into. */
export function inScope(directory: string, { workingDir, depth }: DiscoveryScope): boolean {
  const below = pathBelow(posix.join(workingDir, "."), directory);
  if (below === undefined) return false;
  const parts = below === "" ? [] : below.split("/");
  if (parts.some((part) => IGNORED.has(part))) return false;
  return depth === 0 || parts.length <= depth;
}

/** The path from one directory to another one below it; empty when they are the same. */
function pathBelow(root: string, directory: string): string | undefined {
  const top = withoutEnd(root, "/");
  if (directory === top) return "";
  if (top === ".") return directory === ".." || directory.startsWith("../") ? undefined : directory;
  return directory.startsWith(`${top}/`) ? directory.slice(top.length + 1) : undefined;
}

/** Names by their number of path parts, so that the cost per file does not grow with their number. */
function namesByLength(names: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const all = new Map<number, Set<string>>();
  for (const name of names) {
    const count = name.split("/").length;
    all.set(count, (all.get(count) ?? new Set()).add(name));
  }
  return all;
}

/** The directories in which a path is a file of one of these names. */
function* directoriesOf(
  path: string,
  names: ReadonlyMap<number, ReadonlySet<string>>,
): Generator<string> {
  let start = path.length;
  for (let count = 1, left = names.size; left > 0 && start >= 0; count++) {
    start = start === 0 ? -1 : path.lastIndexOf("/", start - 1);
    const some = names.get(count);
    if (some === undefined) continue;
    left--;
    if (some.has(path.slice(start + 1))) yield start < 0 ? "." : path.slice(0, start);
  }
}

function overrideIn(
  listing: ReadonlyMap<string, { readonly kind: string }>,
  directory: string,
): string | undefined {
  return configFileNames("").map((name) => posix.join(directory, name))
    .find((path) => isFile(listing.get(path)?.kind ?? ""));
}

function isFile(kind: string): boolean {
  return kind === "file" || kind === "executable" || kind === "symlink";
}

/** A separator sorts before every letter, so that what is inside a directory stays together. */
function sortedByPath(paths: ReadonlySet<string>): string[] {
  return [...paths].map((path) => path === "." ? "" : path.replaceAll("/", "\0")).sort()
    .map((key) => key === "" ? "." : key.replaceAll("\0", "/"));
}
