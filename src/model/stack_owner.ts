import type { Revision } from "./revision.ts";
import { formatStackArguments, type StackKey } from "./stack_key.ts";

/** The owner of a stack: the source of its configuration, and the branch that is read. */
export interface StackOwner {
  /** `host/owner/repo`. */
  readonly source: string;
  /** `refs/heads/…`; empty for tags and commits, which are not told apart from any branch. */
  readonly reference: string;
}

/** Name of the source whose configuration asks for a release. */
export function askingSource(
  { configuration, revision }: { readonly configuration?: Revision; readonly revision: Revision },
): string {
  return (configuration ?? revision).source.name;
}

/** The owner of stacks that a configuration at a revision deploys. */
export function ownerFrom({ source, reference }: Revision): StackOwner {
  return { source: source.name, reference: reference.startsWith("refs/heads/") ? reference : "" };
}

/** True for the same source and branch; tags and commits of the source count as any branch. */
export function isSameOwner(one: StackOwner, other: StackOwner): boolean {
  if (one.source !== other.source) return false;
  return [one.reference, other.reference].includes("") || one.reference === other.reference;
}

/** True for the same source and branch, to the letter: an owner without a branch is not both of two branches. */
export function isEqualOwner(one: StackOwner | undefined, other: StackOwner): boolean {
  return one?.source === other.source && one.reference === other.reference;
}

/** The owner alone, of what says more of it. */
export function plainOwner({ source, reference }: StackOwner): StackOwner {
  return { source, reference };
}

/** The owner for people: `github.com/me/shop`, with its branch where that is known. */
export function formatOwner({ source, reference }: StackOwner): string {
  return reference === "" ? source : `${source} (${reference})`;
}

/** The command, for people to copy, that hands a stack to an owner. */
export function formatAdoption(key: StackKey, { source, reference }: StackOwner): string {
  const branch = reference === "" ? "" : ` --reference ${inShell(reference)}`;
  return `stackwright adopt ${formatStackArguments(key)} --source ${inShell(source)}${branch}`;
}

/** A word for a shell command that people copy: a pushed branch may be called `a;reboot`. */
export function inShell(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
