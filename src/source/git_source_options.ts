import type { GitOptions } from "./git/git.ts";
import type { AccessOptions } from "./git/access_options.ts";
import type { UrlRewrites } from "./git/url_rewrites.ts";
import type { Clock, Commands, Files, Log, Redactor } from "../system/mod.ts";
import type { GitCredentials } from "./git/credentials.ts";

/** Everything about the Git source that has a default. */
export interface GitSourceOptions extends GitOptions, AccessOptions {
  /** The operator's rewrite rules for URLs, wherever these come from. */
  readonly rewrites: UrlRewrites;
  /** Whether submodules are exported with their parents. */
  readonly submodules: boolean;
  /** Milliseconds after which an unused object reader is ended. */
  readonly readerIdleMs: number;
  /** Milliseconds without a byte after which an object reader with open questions is given up. */
  readonly readerAnswerMs: number;
  /** Largest file that is read into memory, in bytes. */
  readonly largestFile: number;
  /** Most files of a tree that are written without git, see `writeFiles`. */
  readonly mostFilesWithoutGit: number;
}

/** The default options. */
export const DEFAULTS: GitSourceOptions = {
  git: "git",
  path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  remoteTimeoutMs: 10 * 60 * 1000,
  localTimeoutMs: 5 * 60 * 1000,
  attempts: 3,
  mostBytes: 0,
  mostMemory: 2 * 1024 ** 3,
  // Fetching the whole history of git's own repository takes a fifth of it.
  mostProcessorSeconds: 300,
  http: undefined,
  temporaryPrefix: "/tmp/stackwright-git-",
  httpProxy: "",
  httpsProxy: "",
  noProxy: "",
  caFile: "",
  knownHostsFile: "",
  githubToken: undefined,
  rewrites: {},
  submodules: true,
  readerIdleMs: 60 * 1000,
  readerAnswerMs: 5 * 60 * 1000,
  largestFile: 64 * 1024 * 1024,
  mostFilesWithoutGit: 64,
};

/** Parts of the Git source. */
export interface GitSourceParts {
  readonly commands: Commands;
  readonly files: Files;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly log?: Log;
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  /**
   * Another data directory, for read-only use: its trees serve when a commit cannot be fetched any more,
   * and its `known_hosts` are trusted. Nothing is written there.
   */
  readonly lender?: string;
  readonly credentials: GitCredentials;
  readonly options?: Partial<GitSourceOptions>;
}
