/** Kinds of sources of desired state. */
export type SourceKind = "git" | "oci";

/** The location of a source. */
export interface SourceLocation {
  readonly kind: SourceKind;
  /** As the operator wrote it, credentials included: never log it, show {@link SourceLocation.name}. */
  readonly url: string;
  /**
   * Identity of the source: `host/owner/repo`, with a lower-case host, without credentials and
   * `.git`. `user@host/path` where SSH uses an account that is no forge's.
   */
  readonly name: string;
}

/** One immutable state of a source. Equal `name` and `id` mean equal bytes. */
export interface Revision {
  readonly source: SourceLocation;
  /** The reference, in full where known: `refs/heads/main`, `refs/tags/v1`, or a commit id. */
  readonly reference: string;
  /** Commit id (40 hex), or `sha256:…` for an OCI artifact. */
  readonly id: string;
}

/** A revision for people: `refs/heads/main (4f1c2d3)`. */
export function formatRevision(revision: Revision): string {
  return `${revision.reference} (${shortId(revision.id)})`;
}

/** The first twelve characters of a commit id or digest. */
export function shortId(id: string): string {
  return id.replace(/^sha256:/, "").slice(0, 12);
}
