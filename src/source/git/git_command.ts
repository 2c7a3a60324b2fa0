import type { Command } from "../../system/mod.ts";
import type { RepositoryScheme } from "./repository_url.ts";

/** Surroundings that are the same for every git program of one process. */
export interface GitSurroundings {
  /** Program name or path. */
  readonly git: string;
  /** `PATH` of git and of what it starts. */
  readonly path: string;
  /** An empty directory: `HOME`, and the directory git starts in. */
  readonly home: string;
}

/** The access to one remote: settings, and secrets that only the environment carries. */
export interface RemoteAccess {
  readonly scheme: RepositoryScheme;
  readonly config: readonly (readonly [string, string])[];
  readonly env: Readonly<Record<string, string>>;
  /** Secrets to redact from the output of this command; a URL that anybody wrote may hold some. */
  readonly secrets?: readonly string[];
  /** Removes the files made for this one command, if any. */
  readonly release?: () => Promise<void>;
}

/** One git command, before it has an environment. */
export interface GitInvocation {
  readonly args: readonly string[];
  /** Bare repository that the command works on; absent for commands outside of any. */
  readonly gitDir?: string;
  /** Whose work it is; absent where that is not known, and it counts as this repository's. */
  readonly by?: string | undefined;
  readonly workTree?: string;
  readonly indexFile?: string;
  /** Present for commands that talk to a remote; without it git may use no transport at all. */
  readonly access?: RemoteAccess;
  readonly stdin?: string | Uint8Array;
  /** Most bytes that the command may print, where a repository decides how much it prints. */
  readonly mostBytes?: number;
  /** Seconds on processors, where a repository decides how much there is to do. */
  readonly mostProcessorSeconds?: number;
  /** Whether the command takes much memory, and waits for its turn at once. */
  readonly isLarge?: boolean;
  /** Other `args` for when it is begun again with more memory, having done a part of its work. */
  readonly argsAgain?: readonly string[];
}

const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.askPass", ""],
  ["core.autocrlf", "false"],
  ["core.symlinks", "true"],
  ["protocol.ext.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Every fetch stays one pack: loose objects would pile up, and compaction counts packs.
  ["fetch.unpackLimit", "1"],
  ["fetch.writeCommitGraph", "false"],
  ["submodule.recurse", "false"],
  ["advice.detachedHead", "false"],
  // Memory: of the bases of deltas that each thread keeps, and of files that are no deltas.
  ["core.deltaBaseCacheLimit", "16m"],
  ["pack.threads", "4"],
  ["core.bigFileThreshold", "64m"],
];
const REMOTE_SETTINGS: readonly (readonly [string, string])[] = [
  // A server that sends less than 1000 bytes per second for 60 seconds counts as hanging.
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "60"],
  ["http.followRedirects", "initial"],
  ["http.emptyAuth", "false"],
];
/**
 * Overrides the attributes of every repository: what is exported is what was committed, byte for
 * byte, so equal object ids mean equal files. Git looks at all other patterns nevertheless.
 */
export const MIRROR_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding\n";

type Given = "argv" | "cwd" | "env" | "stdin" | "mostBytes" | "mostProcessorSeconds";
type GitProgram = Pick<Command, Given> & { argv: [string, ...string[]] };

/** The program, its arguments and its whole environment; nothing is inherited. Pure. */
export function gitCommand(
  surroundings: GitSurroundings,
  invocation: GitInvocation,
): GitProgram {
  const { access, gitDir, workTree, args, stdin, mostBytes, mostProcessorSeconds } = invocation;
  const settings = [...SETTINGS, ...(access === undefined ? [] : REMOTE_SETTINGS)]
    .flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const where = [
    ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ];
  return {
    argv: [surroundings.git, ...settings, ...where, ...args],
    cwd: surroundings.home,
    env: environment(surroundings, invocation),
    ...(stdin === undefined ? {} : { stdin }),
    ...(mostBytes === undefined ? {} : { mostBytes }),
    ...(mostProcessorSeconds === undefined ? {} : { mostProcessorSeconds }),
  };
}

const ISOLATED = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ATTR_NOSYSTEM: "1",
};

function environment(surroundings: GitSurroundings, { access, indexFile }: GitInvocation) {
  return {
    PATH: surroundings.path,
    HOME: surroundings.home,
    ...ISOLATED,
    // A redirect may go from http to https, never back.
    GIT_ALLOW_PROTOCOL: access?.scheme === "http" ? "http:https" : access?.scheme ?? "none",
    ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
    ...(access === undefined ? {} : { ...configEnvironment(access.config), ...access.env }),
  };
}

/** Settings as environment variables: arguments can be read by everybody on the machine. */
export function configEnvironment(config: RemoteAccess["config"]): Record<string, string> {
  if (config.length === 0) return {};
  const pairs = config.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(config.length), ...Object.fromEntries(pairs) };
}

/** Asks a remote which of `patterns` it has; all branches and tags when there are none. */
export function lsRemoteArgs(remote: string, patterns: readonly string[]): string[] {
  return ["ls-remote", "--symref", "--end-of-options", remote, ...patterns];
}

/** Asks a remote for all branches and tags, and for nothing else. */
export function lsRemoteTipsArgs(remote: string): string[] {
  return ["ls-remote", "--heads", "--tags", "--refs", "--end-of-options", remote];
}

/** The depth of history that a fetch asks for. */
export type FetchDepth =
  | { readonly kind: "as_is" }
  | { readonly kind: "all" }
  | { readonly kind: "commits"; readonly count: number };

const FETCH = [
  "fetch",
  "--quiet",
  "--force",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-auto-maintenance",
  "--no-recurse-submodules",
  "--update-shallow",
];

/** Fetches references into our own names, forced, and nothing else; without any, those of standard input. */
export function fetchArgs(
  remote: string,
  refspecs: readonly string[],
  depth: FetchDepth,
): string[] {
  const history = depth.kind === "all"
    ? ["--unshallow"]
    : depth.kind === "commits"
    ? [`--depth=${depth.count}`]
    : [];
  const source = refspecs.length === 0 ? ["--stdin"] : [];
  return [...FETCH, ...history, ...source, "--end-of-options", remote, ...refspecs];
}

/**
 * The same command with a file creation mask under which git makes 0644 and 0755, whatever mask this
 * process has. The shell sees a fixed text; the command itself is passed as its arguments.
 */
export function withPlainMask<T extends { argv: readonly [string, ...string[]] }>(command: T): T {
  return { ...command, argv: ["sh", "-c", 'umask 022 && exec "$@"', "sh", ...command.argv] };
}
