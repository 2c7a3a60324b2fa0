import { posix } from "node:path";
import { errors, type StackwrightError, withoutEnd } from "../model/mod.ts";
import { configFileNames } from "./config_file_names.ts";

/** Directories that never hold stacks of their own. */
const IGNORED = new Set([".git", ".github", ".vscode", ".idea", "node_modules"]);

/** Directories in which stacks are looked for: POSIX, relative to the root, which is `.` itself. */
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

/** Most directories that are found, and characters of candidates, before it is refused. */
const MOST_FOUND = 5000;
const MOST_LOOKED_AT = 4_000_000;
/** What looking at one more part of a path costs, in characters. */
const A_LOOK = 40;

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
  const names = namesFromTheEnd(rules.composeFiles);
  const isInScope = scopeOf(rules);
  let looked = 0;
  for (const [path, { kind }] of listing) {
    if (!isFile(kind)) continue;
    for (const directory of directoriesOf(path, names)) {
      // To look a directory up takes as long as it is.
      looked += A_LOOK + (directory?.length ?? 0);
      if (looked > MOST_LOOKED_AT || found.size > MOST_FOUND) throw tooMany(rules.workingDir);
      if (directory === undefined || found.has(directory)) continue;
      if (isInScope(measuredDirectory(directory))) found.add(directory);
    }
  }
  return sortedByPath(found).map((path) => {
    const override = path === rules.configurationDir ? undefined : overrideIn(listing, path);
    return override === undefined ? { path } : { path, override };
  });
}

/** A directory, measured once for any number of scopes. */
interface MeasuredDirectory {
  readonly path: string;
  readonly parts: number;
  /** Index of its last part that never holds stacks; -1 without one. */
  readonly ignored: number;
}

/** Measures a directory for {@link scopeOf}; takes as long as its path is. */
export function measuredDirectory(path: string): MeasuredDirectory {
  const parts = path === "." ? [] : path.split("/");
  return { path, parts: parts.length, ignored: parts.findLastIndex((part) => IGNORED.has(part)) };
}

/** Makes a function that tells, quickly, whether a discovery looks into a directory. */
export function scopeOf(scope: DiscoveryScope): (directory: MeasuredDirectory) => boolean {
  const { root, reaches } = measuredScope(scope);
  const isIn = within(root);
  return (directory) => reaches(directory) && isIn(directory.path);
}

/** The directory that a discovery starts at, and whether it looks into one below it. */
export function measuredScope({ workingDir, depth }: DiscoveryScope): {
  readonly root: string;
  reaches(directory: MeasuredDirectory): boolean;
} {
  const root = withoutEnd(posix.join(workingDir, "."), "/");
  const above = root === "." ? 0 : root.split("/").length;
  const reaches = ({ parts, ignored }: MeasuredDirectory) =>
    ignored < above && (depth === 0 || parts - above <= depth);
  return { root, reaches };
}

/** Makes a function that tells whether a directory is another one, or lies below it. */
function within(root: string): (directory: string) => boolean {
  if (root === ".") return (directory) => directory !== ".." && !directory.startsWith("../");
  // Not joined anew for each of thousands of directories.
  const above = `${root}/`;
  return (directory) => directory === root || directory.startsWith(above);
}

/** A part of names of compose files, and the parts that may stand before it. */
interface NamePart {
  readonly before: Map<string, NamePart>;
  isName: boolean;
}

/** Names from their last part on, so that a path is compared with all of them at once. */
function namesFromTheEnd(names: readonly string[]): NamePart {
  const end: NamePart = { before: new Map(), isName: false };
  for (const name of names) {
    let at = end;
    for (const part of name.split("/").reverse()) {
      at = at.before.getOrInsertComputed(part, () => ({ before: new Map(), isName: false }));
    }
    at.isName = true;
  }
  return end;
}

/** The directories in which a path is a file of such a name; `undefined` for each other part that has one. */
function* directoriesOf(path: string, names: NamePart): Generator<string | undefined> {
  let at = names;
  for (let end = path.length; end > 0;) {
    const start = path.lastIndexOf("/", end - 1);
    const next = at.before.get(path.slice(start + 1, end));
    if (next === undefined) return;
    yield next.isName ? start < 0 ? "." : path.slice(0, start) : undefined;
    [at, end] = [next, start];
  }
}

function overrideIn(listing: ReadonlyMap<string, { readonly kind: string }>, directory: string) {
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
