import type { SourceLocation } from "../../model/mod.ts";
import type { GitLayout } from "./layout.ts";
import type { CommitPlace, Repository } from "../git/repository.ts";
import type { RepositoryUrl } from "../git/repository_url.ts";
import type { TreeEntry } from "../source.ts";
import type { ListedEntry } from "../git/tree_object.ts";
import type { UrlRewrites } from "../git/url_rewrites.ts";

/** One repository inside a tree: the source itself, or a submodule. */
export interface TreePart extends CommitPlace {
  /** Path of its root in the tree, with a slash at the end; empty for the source itself. */
  readonly prefix: string;
  /** Its URL before rewrites: relative URLs of its submodules start there. */
  readonly written: RepositoryUrl;
}

/** A file or link of a tree, and the part it comes from. */
export interface TreeFile extends ListedEntry {
  readonly kind: Exclude<TreeEntry["kind"], "directory" | "submodule">;
  readonly part: TreePart;
}

/** A commit with its submodules in place. */
export interface ExpandedTree {
  /** By path from the root of the tree. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** Paths of the roots of submodules: directories even when they are empty. */
  readonly roots: readonly string[];
}

/** Runs work within a time of its own, with a signal that ends then, too. */
export type Within = <T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

/** Options for reaching submodules. */
export interface ExpandOptions {
  /** Whether they are exported; otherwise their directories stay empty. */
  readonly submodules: boolean;
  readonly rewrites: UrlRewrites;
  readonly open: (directory: string, name: string) => Repository;
  readonly layout: GitLayout;
  readonly source: SourceLocation;
  /** Whose work it is, by which what it takes is counted. */
  readonly by: string;
  /** Whether missing commits are fetched; otherwise they make the expansion fail. */
  readonly fetch: boolean;
  /** Most bytes of all files together; 0 is no limit. */
  readonly mostBytes: number;
  /** Told about submodules without a URL, which stay empty. */
  readonly onUnknown: (path: string) => void;
  /** Runs work that may fetch, within the time of the commit: see {@link TreeTimes}. */
  readonly within: Within;
  /** Refuses paths on this machine that authors may not name; a submodule's has to be below `root`, if any. */
  readonly check: (url: RepositoryUrl, root?: string) => Promise<void>;
}
