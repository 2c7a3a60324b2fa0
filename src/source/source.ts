import type { PollRound, Revision, SourceLocation } from "../model/mod.ts";

/** A request to a source for the revision that a reference names. */
export interface ResolveRequest {
  readonly location: SourceLocation;
  /** Full or short reference, or a whole commit id. */
  readonly reference: string;
  /** Commits of history to fetch; 0 is all of it. */
  readonly depth: number;
  /** Requests of the same round may share one answer of the remote. */
  readonly round?: PollRound | undefined;
  /** Whose work it is, by which what it takes is counted; by default the source. */
  readonly by?: string;
}

/** One entry of a revision: a file, a directory, a link, or the root of a submodule. */
export interface TreeEntry {
  readonly kind: "file" | "executable" | "directory" | "symlink" | "submodule";
  /** Object id: equal ids mean equal content, for directories of everything below them. */
  readonly id: string;
}

/**
 * A source of desired state. Reading by path needs no checkout; a tree on disk is made only
 * for a target that will be rendered. Paths are POSIX, relative to the root, `.` is the root.
 */
export interface Source {
  /**
   * Finds the revision that a reference names now, fetching what is needed. May be called at any
   * time, also for the same source at once: fetches of one mirror wait for each other.
   *
   * Throws `reference_not_found` when the source has no such reference, `bad_request` for a malformed one,
   * `forbidden` when it lies in the data directory,
   * `repository_denied` when credentials are missing or refused, `repository_unreachable` when it
   * cannot be reached or is no repository, `source_invalid` when the mirror cannot be used,
   * `unsupported` for a SHA-256 repository, `data_dir_unusable` when the disk refuses, `timeout` when
   * one exchange took too long.
   */
  resolve(request: ResolveRequest, signal: AbortSignal): Promise<Revision>;
  /**
   * The revision that the reference named at its last fetch, without asking the remote; `undefined`
   * when it was never fetched. For reconciling deployed stacks while the source is unreachable.
   */
  lastKnown(request: ResolveRequest, signal: AbortSignal): Promise<Revision | undefined>;
  /**
   * The bytes of a file of a revision, or `undefined` when it has no such file. Links are not followed;
   * files of submodules are found at their paths, here and below, unless submodules are not exported
   * or have no URL. Throws what fetching a submodule throws, and `config_invalid` for a file of more than
   * `mostBytes`, of which nothing is read. Where the file is decrypted, its texts are hidden as those of
   * `owner`; by default of the source, which is right for its own configuration alone.
   */
  read(
    revision: Revision,
    path: string,
    signal: AbortSignal,
    mostBytes: number,
    owner?: string,
  ): Promise<Uint8Array | undefined>;
  /** The entries at `paths`; a path that does not exist is missing from the answer. */
  entries(
    revision: Revision,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>>;
  /**
   * Every file, link and submodule at or below `path`, by path from the root. Submodules further
   * below are one entry each; one at `path` is entered, and is its own entry when it cannot be.
   */
  list(
    revision: Revision,
    path: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TreeEntry>>;
  /**
   * The directory on disk that holds exactly the files of `revision`, made now or earlier. It is
   * immutable: writing into it damages every deployment of the revision.
   *
   * Throws `path_escapes` when a link leaves the tree, `source_invalid` when a file cannot be
   * exported, `data_dir_unusable` when the disk refuses, and what fetching a submodule throws, with
   * the path of the submodule in front.
   */
  materialise(revision: Revision, signal: AbortSignal): Promise<string>;
  /**
   * Whether `older` is an ancestor of, or the same as, `newer`. Fetches more history when it is needed;
   * when the remote cannot give it, compares the times of the commits. `unknown` when one of the
   * commits cannot be found anywhere.
   */
  isAncestor(older: Revision, newer: Revision, signal: AbortSignal): Promise<boolean | "unknown">;
  /** Ends what the source keeps open. May be called twice. */
  close(): Promise<void>;
}

/** The layout of a source's mirror and trees: decided once, so that mounts and trees agree. */
export interface SourceLayout {
  /** Directory of a source below the data directory. */
  directory(location: SourceLocation): string;
  /** Directory of the tree of one revision. */
  tree(revision: Pick<Revision, "source" | "id">): string;
}
