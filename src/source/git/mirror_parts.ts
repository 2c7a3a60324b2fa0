import type { PollRound, StackwrightError } from "../../model/mod.ts";
import type { Clock, DiskShares, Files, KeyedLock, Log } from "../../system/mod.ts";
import type { Git } from "./git.ts";
import type { GitResult } from "./git_result.ts";
import type { ObjectReader } from "./object_reader.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Parts of a mirror. */
export interface MirrorParts {
  readonly git: Git;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log | undefined;
  /** Shared by all mirrors; the key is the directory. */
  readonly lock: KeyedLock;
  /** Shared by all that writes below the data directory and may become large. */
  readonly disk: DiskShares;
  readonly reader: ObjectReader;
  readonly directory: string;
  /** Name of the repository for messages. */
  readonly name: string;
}

/** A request to a mirror for what a reference names. */
export interface MirrorRequest {
  readonly url: RepositoryUrl;
  readonly reference: string;
  /** Commits of history; 0 is all of it. */
  readonly depth: number;
  readonly round?: PollRound | undefined;
}

/** The reference or commit that a fetch is for. */
export interface Wanted {
  readonly url: RepositoryUrl;
  /** Full name on the remote, or a commit id. */
  readonly name: string;
  readonly depth: number;
  /** Whether the remote does not give this commit by its id, and its branches and tags are looked through. */
  readonly isSearched?: boolean;
}

/** The error of a failed git command; `doing` says what the command was for. */
export function mirrorError(
  { git, name }: MirrorParts,
  result: GitResult,
  doing: string,
): StackwrightError {
  return git.error(result, `${doing} of ${name}`);
}
