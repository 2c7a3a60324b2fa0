import type { Revision } from "./revision.ts";

/** The owner of a stack: the source with its configuration, and the branch it is read from. */
export interface StackOwner {
  /** `host/owner/repo`. */
  readonly source: string;
  /** `refs/heads/…`; empty where it is no branch, which then is not told from another reference. */
  readonly reference: string;
}

/** The owner that a configuration makes. */
export function ownerFrom({ source, reference }: Revision): StackOwner {
  return { source: source.name, reference: reference.startsWith("refs/heads/") ? reference : "" };
}

/** True when two owners are one: tags and commits of a source, which people move between, are. */
export function isSameOwner(one: StackOwner, other: StackOwner): boolean {
  if (one.source !== other.source) return false;
  return [one.reference, other.reference].includes("") || one.reference === other.reference;
}

/** The owner for people: `github.com/me/shop`, with its branch where that is known. */
export function formatOwner({ source, reference }: StackOwner): string {
  return reference === "" ? source : `${source} (${reference})`;
}
