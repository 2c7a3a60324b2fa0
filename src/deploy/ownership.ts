import type { ResourceSummary } from "../docker/engine.ts";
import {
  errors,
  formatOwner,
  formatStackArguments,
  isOurs,
  isSameOwner,
  LABELS,
  type ObservedStack,
  type StackKey,
  type StackOwner,
  type StackwrightError,
} from "../model/mod.ts";

/** Owners that the containers of a stack may have. */
export type Ownership = "nobody" | "ours" | "unmanaged";

/** Facts that tell whose a stack is, besides its containers. */
export interface OwnershipFacts {
  readonly observed: ObservedStack;
  /** Volumes of its project. */
  readonly volumes: readonly Pick<ResourceSummary, "name" | "labels">[];
  /** Whose it is by the ledger, which knows it also while there is nothing on the engine. */
  readonly recorded?: StackOwner;
  /** Whether a person handed it over: then labels, which change with the containers, do not count. */
  readonly adopted: boolean;
}

/**
 * The name of the source that decides about a container: the one with its configuration. That is
 * stable, while the repository a configuration deploys from may change.
 */
export function ownerOf(labels: Readonly<Record<string, string>>): string | undefined {
  return labels[LABELS.sourceConfiguration] ?? labels[LABELS.sourceName];
}

/**
 * Decides whether a stack may be deployed by `claimant`: two repositories, or two branches, with one
 * stack name would otherwise replace each other for ever, or get each other's data.
 *
 * Throws `conflict` when the ledger, a container or a volume says that it is another's.
 */
export function ownership(key: StackKey, facts: OwnershipFacts, claimant: StackOwner): Ownership {
  const { observed, volumes, recorded, adopted } = facts;
  const managed = observed.containers.filter(isOurs);
  requireRecorded(key, recorded, claimant);
  const stranger = managed.find(({ labels }) => ownerOf(labels) !== claimant.source);
  if (!adopted) {
    if (stranger !== undefined) {
      const owner = ownerOf(stranger.labels) ?? "another source";
      throw notYours(key, `runs from ${owner} (container ${stranger.name})`, claimant);
    }
    const theirs = volumes.find(({ labels }) => isOfAnother(labels, claimant));
    if (theirs !== undefined) {
      const owner = theirs.labels[LABELS.sourceName] ?? "another source";
      throw notYours(key, `has data of ${owner} (volume ${theirs.name})`, claimant);
    }
  }
  if (observed.containers.length === 0) return "nobody";
  return managed.length > 0 ? "ours" : "unmanaged";
}

/** The part of {@link ownership} that needs no engine. */
export function requireRecorded(
  key: StackKey,
  recorded: StackOwner | undefined,
  claimant: StackOwner,
): void {
  if (recorded === undefined || isSameOwner(recorded, claimant)) return;
  throw notYours(key, `belongs to ${formatOwner(recorded)}`, claimant);
}

/** The error for a stack that is another's, with what a person can do. */
export function notYours(key: StackKey, how: string, claimant: StackOwner): StackwrightError {
  const { source, reference } = claimant;
  const branch = reference === "" ? "" : ` --reference ${inShell(reference)}`;
  return errors.conflict(
    `conflict: ${key.name} already ${how}, so it was not deployed from ${formatOwner(claimant)}; ` +
      `choose another name, or hand it over: stackwright adopt ${formatStackArguments(key)} ` +
      `--source ${inShell(source)}${branch}`,
  );
}

/** A word of a command that people copy: who pushes chooses the name of a branch, such as `a;reboot`. */
function inShell(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Volumes carry the repository that was deployed, not the one with the configuration. Anybody may name
 * that to deploy from, so it does not make a volume theirs.
 */
function isOfAnother(labels: Readonly<Record<string, string>>, claimant: StackOwner): boolean {
  if (!isOurs({ labels })) return false;
  return labels[LABELS.sourceName] !== claimant.source;
}
