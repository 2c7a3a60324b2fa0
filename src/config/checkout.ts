/** A checkout as a validator sees it. Paths are POSIX and relative to its root. */
export interface Checkout {
  /** Name of its directory, which is often the repository's. */
  readonly name: string;
  /** Names in the directory that is searched for the configuration, by default the root. */
  names(): Promise<readonly string[]>;
  /** Whether there is a file at `path`. */
  exists(path: string): Promise<boolean>;
  /** Whether there is a file or link at `path` or below it: asked for many, so without looking at all of them. */
  holds(path: string): Promise<boolean>;
  /** The text of a file; `undefined` when there is none. Throws `config_invalid` for one that is too large. */
  read(path: string): Promise<string | undefined>;
  /** Every file and link at or below a directory, by path from the root; empty when there is none. */
  list(path: string): Promise<ReadonlyMap<string, { readonly kind: string }>>;
}
