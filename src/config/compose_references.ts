import { dirname, join } from "node:path/posix";
import { type ComposeInclude, type ComposePaths, composePaths } from "./compose_paths.ts";

/** References to further files in a compose file, as its author wrote them. */
interface ComposeReferences {
  /** Further compose files, relative to the directory of this one: `include` and `extends.file`. */
  readonly composeFiles: readonly string[];
  /** Other files: `env_file`, `label_file`, the `env_file` of an include or the `.env` beside it. */
  readonly files: readonly string[];
  /**
   * Those that are the `env_file` of an include: in a file that is included itself, compose takes them from
   * where it runs, and from there as the file lies from the one that includes it.
   */
  readonly ofIncludes: readonly string[];
  /** Whether rendering may read any file of the source: broken YAML, an include with its own base. */
  readonly wide: boolean;
  /**
   * Whether rendering reads outside the source, or nobody knows where: remote includes, paths of the
   * host and its home directories, paths with variables.
   */
  readonly outside: boolean;
}

/**
 * Paths that compose may take for some in the home directory. It expands `~` whenever it resolves a
 * path, and resolves one again for each file that includes or extends: `./~/` becomes `~/`.
 */
export const HOME_PATH = /(?:^|\/)~/;

/** Paths that compose would fetch from elsewhere. */
export const REMOTE = /^(?:[a-z][a-z0-9+.-]*:\/\/|git@|oci:)/i;

/**
 * Whether versions of compose fetch a compose file from elsewhere: they take a name that ends with `.git`
 * for a repository, that of an include unless it has no directory or begins with a dot. Files that extend
 * others name theirs from where compose runs in the end, however they are written.
 */
export function isFetched(path: string, key: "include" | "extends"): boolean {
  // As they read a URL without its scheme.
  const [place = ""] = path.split(/[?#]/, 1);
  const decoded = place.replace(
    /%([0-9a-f]{2})/gi,
    (_, code) => String.fromCharCode(parseInt(code, 16)),
  );
  const isNamed = key === "extends" || /^(?!\.{1,2}\/).*\//s.test(place);
  return REMOTE.test(path) || (isNamed && decoded.endsWith(".git"));
}

/** A path with a variable, or one that does not begin in the checkout. */
export const UNKNOWN = /\$|^[/~]/;

/** Whether a compose file takes nothing from files that are not looked at: those of `extends`, and elsewhere. */
export function isFollowed({ includes, extended, unsure }: ComposePaths, base: string): boolean {
  const isOurs = (path: string) =>
    !REMOTE.test(path) && !UNKNOWN.test(path) && !join(base, path).startsWith("../");
  return extended.length === 0 && unsure.extended.length === 0 &&
    includes.every(({ paths, projectDirectory }) => [...paths, projectDirectory].every(isOurs));
}

/** The files that rendering a compose file reads. Never throws: an invalid text is `wide`. */
export function composeReferences(text: string): ComposeReferences {
  let paths: ComposePaths;
  try {
    paths = composePaths(text, "");
  } catch {
    return { composeFiles: [], files: [], ofIncludes: [], wide: true, outside: false };
  }
  const { includes, extended, unsure } = paths;
  const composeFiles = [...includes.flatMap((each) => each.paths), ...extended, ...unsure.extended];
  const files = [...includes.flatMap(filesBeside), ...paths.files, ...unsure.files];
  const isOutside = (path: string) =>
    path.includes("$") || path.startsWith("/") || HOME_PATH.test(path) || REMOTE.test(path);
  const inside = (all: readonly string[]) => [...new Set(all.filter((path) => !isOutside(path)))];
  return {
    composeFiles: inside(composeFiles),
    files: inside(files),
    ofIncludes: inside(includes.flatMap((each) => each.envFiles)),
    // A project directory is the base of every path in the included files; without one it is the
    // directory of the first file. Includes with such a base elsewhere are left to compose.
    wide: includes.some(({ paths, projectDirectory }) =>
      projectDirectory !== "" || new Set(paths.map(dirname)).size > 1
    ),
    outside: [...composeFiles, ...files].some(isOutside) ||
      includes.some((each) => each.paths.some((path) => isFetched(path, "include"))) ||
      [...extended, ...unsure.extended].some((path) => isFetched(path, "extends")),
  };
}

/** The dotenv files of an include; by default compose reads the `.env` beside its first file. */
function filesBeside({ paths: [first], envFiles }: ComposeInclude): readonly string[] {
  if (envFiles.length > 0 || first === undefined || REMOTE.test(first)) return envFiles;
  return [join(dirname(first), ".env")];
}
