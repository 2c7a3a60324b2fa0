import { posix } from "node:path";
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
  /** Names of which a directory needs one. */
  readonly composeFiles: readonly string[];
  /**
   * Directory whose configuration file declares this very discovery, where it lies in the listed
   * source: that file is nobody's override.
   */
  readonly configurationDir?: string;
}

/** A directory that is a stack. */
export interface DiscoveredDirectory {
  readonly path: string;
  /** Path of the file that changes what the stack inherits. */
  readonly override?: string;
}

/**
 * Finds the directories of a listing that are stacks: those that hold one of the compose files, at
 * most `depth` levels below the working directory. `listing` has every file, link and submodule by
 * path; links to directories are not followed, submodules not entered. A pure function, and the
 * order of the listing does not matter: parents come before their children, siblings by name.
 */
export function discoverDirectories(
  listing: ReadonlyMap<string, { readonly kind: string }>,
  rules: DiscoveryRules,
): DiscoveredDirectory[] {
  const found = new Set<string>();
  for (const [path, { kind }] of listing) {
    if (!isFile(kind)) continue;
    for (const name of rules.composeFiles) {
      const directory = directoryOf(path, name);
      if (directory !== undefined && inScope(directory, rules)) found.add(directory);
    }
  }
  return [...found].sort(byPath).map((path) => {
    const override = path === rules.configurationDir ? undefined : overrideIn(listing, path);
    return override === undefined ? { path } : { path, override };
  });
}

/** True when a directory is one that a discovery looks into. */
export function inScope(directory: string, { workingDir, depth }: DiscoveryScope): boolean {
  const below = posix.relative(workingDir, directory);
  if (below === ".." || below.startsWith("../")) return false;
  const parts = below === "" ? [] : below.split("/");
  if (parts.some((part) => IGNORED.has(part))) return false;
  return depth === 0 || parts.length <= depth;
}

/** The directory in which `path` is the file called `name`. */
function directoryOf(path: string, name: string): string | undefined {
  if (path === name) return ".";
  return path.endsWith(`/${name}`) ? path.slice(0, -name.length - 1) : undefined;
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
function byPath(one: string, other: string): number {
  const [a, b] = [one, other].map((path) => path === "." ? "" : path.replaceAll("/", "\0"));
  return (a ?? "") < (b ?? "") ? -1 : (a ?? "") > (b ?? "") ? 1 : 0;
}
