import type { Run } from "../model/mod.ts";

/** The facts that decide in whose share of the kept runs a run counts. */
export type SharedRun = Pick<Run, "trigger" | "repository" | "target" | "owner"> & {
  readonly targets: readonly Pick<Run["targets"][number], "context" | "stack">[];
};

/**
 * Of one trigger's runs, oldest first, the one to forget: the oldest of the owner with the most.
 * Otherwise a job that runs every second would push out the runs of all other stacks.
 */
export function firstToGo<Kept extends SharedRun>(runs: readonly Kept[]): Kept | undefined {
  return [ownerOf, stackOf, partOf].reduce(largestShare<Kept>, runs)[0];
}

/** The largest group with one key of what is kept, oldest first; among equals, the one with the oldest. */
export function largestShare<Kept>(
  kept: readonly Kept[],
  keyOf: (each: Kept) => string,
): readonly Kept[] {
  const groups = [...Map.groupBy(kept, keyOf).values()];
  return groups.reduce((one, other) => other.length > one.length ? other : one, groups[0] ?? []);
}

/** The repository of a run; of a job the owner, since the job's run names itself as repository. */
function ownerOf({ trigger, repository, owner = "" }: SharedRun): string {
  return trigger === "scheduled_job" ? owner : repository;
}

/** The stack of a job's run: a repository may have many stacks, and these many jobs. */
function stackOf({ trigger, targets: [first] }: SharedRun): string {
  return trigger !== "scheduled_job" || first === undefined
    ? ""
    : JSON.stringify([first.context, first.stack]);
}

function partOf({ trigger, repository, target }: SharedRun): string {
  return trigger === "scheduled_job" ? repository : target;
}
