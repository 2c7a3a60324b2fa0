import type { ResourceSummary } from "../docker/engine.ts";
import {
  errors,
  formatAdoption,
  formatOwner,
  isOurs,
  isSameOwner,
  LABELS,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type StackKey,
  type StackOwner,
  type StackwrightError,
} from "../model/mod.ts";

/** Who made the containers of a stack. */
export type Ownership = "nobody" | "ours" | "unmanaged";

/** Facts, besides containers, that tell who owns a stack. */
export interface OwnershipFacts {
  readonly observed: ObservedStack;
  /** Volumes of its project. */
  readonly volumes: readonly Pick<ResourceSummary, "name" | "labels">[];
  /** The owner in the ledger, which is known even while nothing is on the engine. */
  readonly recorded?: StackOwner;
  /** Whether a person handed the stack over: then labels, which change later, do not count. */
  readonly adopted: boolean;
}

/**
 * The name of the source that owns a container: the one with its configuration. That is stable,
 * while the repository that a configuration deploys from may change.
 */
export function ownerOf(labels: Readonly<Record<string, string>>): string | undefined {
  return labels[LABELS.sourceConfiguration] ?? labels[LABELS.sourceName];
}

/**
 * Whether labels name the repository that a stack was `deployed` from, and no configuration: older
 * versions wrote that one alone.
 */
export function isLabelledBefore(
  { labels }: Pick<ObservedContainer, "labels">,
  deployed: string | undefined,
): boolean {
  return labels[LABELS.sourceConfiguration] === undefined &&
    labels[LABELS.sourceName] === deployed;
}

/**
 * Sources that the labels of a stack's containers name; two of many, which tell as much as all. Not
 * those of {@link isLabelledBefore}, where it is known what the stack was `deployed` from.
 */
export function labelledOwners(
  seen: Pick<ObservedStack, "containers"> | undefined,
  deployed?: string,
): readonly string[] {
  const all = new Set<string>();
  for (const each of seen?.containers ?? []) {
    if (deployed !== undefined && isLabelledBefore(each, deployed)) continue;
    const owner = isOurs(each) ? ownerOf(each.labels) : undefined;
    if (owner !== undefined) all.add(owner);
    if (all.size === 2) break;
  }
  return [...all];
}

/**
 * Decides whether `claimant` may deploy a stack: two repositories, or two branches, with one stack
 * name would otherwise replace each other for ever, or get each other's data.
 *
 * Throws `conflict` when the ledger, a container or a volume shows another owner.
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

/**
 * Refuses a stack that was discovered in the repository `from`, where a container or a volume shows
 * that it was deployed from another one: labels tell that where the ledger was lost.
 *
 * Throws `conflict`.
 */
export function requireRepository(
  { name }: StackKey,
  { observed, volumes }: Pick<OwnershipFacts, "observed" | "volumes">,
  from: string,
  claimant: StackOwner,
): void {
  const isTheirs = (each: Pick<ResourceSummary, "labels">) =>
    isOurs(each) && each.labels[LABELS.sourceName] !== from;
  const [container, volume] = [observed.containers.find(isTheirs), volumes.find(isTheirs)];
  const theirs = container ?? volume;
  if (theirs === undefined) return;
  const what = container === undefined ? "volume" : "container";
  throw errors.conflict(
    `conflict: ${what} ${theirs.name} of ${name} is from ${
      theirs.labels[LABELS.sourceName]
    }, so ${name} ` +
      `was not deployed from ${from}, where it was discovered; choose another name there, or write ` +
      `the stack down in the configuration of ${claimant.source}`,
  );
}

/**
 * Tells whether containers or services have come under the name of a stack that had none of ours when
 * it was `seen`, by a look at it `now`: another manager's or a person's, made while its release was prepared.
 */
export function othersCame(
  { swarm }: Pick<Release, "swarm">,
  seen: ObservedStack,
  now: ObservedStack,
): boolean {
  if (seen.containers.some(isOurs)) return false;
  // A swarm makes tasks anew under the names of the old ones.
  const idOf = ({ id, name }: ObservedContainer) => swarm === undefined ? id : name;
  const known = new Set(seen.containers.map(idOf));
  return now.containers.some((each) => !known.has(idOf(each)));
}

/** The part of {@link ownership} that needs no engine. */
export function requireRecorded(
  key: StackKey,
  recorded: (StackOwner & { readonly elsewhere?: string }) | undefined,
  claimant: StackOwner,
): void {
  if (recorded === undefined || isSameOwner(recorded, claimant)) return;
  const by = recorded.elsewhere === undefined ? "" : ` by context ${recorded.elsewhere}`;
  throw notYours(key, `belongs to ${formatOwner(recorded)}${by}`, claimant);
}

/** The error for a stack of another owner, with what a person can do. */
export function notYours(key: StackKey, how: string, claimant: StackOwner): StackwrightError {
  return errors.conflict(
    `conflict: ${key.name} already ${how}, so it was not deployed from ${formatOwner(claimant)}; ` +
      `choose another name, or hand it over: ${formatAdoption(key, claimant)}`,
  );
}

/**
 * Volumes are labelled with the deployed repository; it is compared with the claimant's source of
 * configuration. Anybody may deploy from a repository, which gives no right to its volumes.
 */
function isOfAnother(labels: Readonly<Record<string, string>>, claimant: StackOwner): boolean {
  if (!isOurs({ labels })) return false;
  return labels[LABELS.sourceName] !== claimant.source;
}
