import type { Run } from "../model/mod.ts";

/** What decides whose share of the kept runs a run is of. */
export type SharedRun = Pick<Run, "trigger" | "repository" | "target" | "owner"> & {
  readonly targets: readonly Pick<Run["targets"][number], "context" | "stack">[];
};

/**
 * The run to forget first of those of one trigger, oldest first: the oldest of whoever has the most. A
 * job of one stack that runs every second would else leave nothing known of those of all others.
 */
export function firstToGo<Kept extends SharedRun>(runs: readonly Kept[]): Kept | undefined {
  return [ownerOf, stackOf, partOf].reduce(most<Kept>, runs)[0];
}

/** The largest group of runs with one key; of equal ones the one with the oldest run. */
function most<Kept>(runs: readonly Kept[], keyOf: (run: Kept) => string): readonly Kept[] {
  const groups = [...Map.groupBy(runs, keyOf).values()];
  return groups.reduce((one, other) => other.length > one.length ? other : one, groups[0] ?? []);
}

/** The repository; runs of jobs are named after these. */
function ownerOf({ trigger, repository, owner = "" }: SharedRun): string {
  return trigger === "scheduled_job" ? owner : repository;
}

/** The stack of a job; a repository may have many stacks, and these many jobs. */
function stackOf({ trigger, targets: [first] }: SharedRun): string {
  return trigger !== "scheduled_job" || first === undefined
    ? ""
    : JSON.stringify([first.context, first.stack]);
}

function partOf({ trigger, repository, target }: SharedRun): string {
  return trigger === "scheduled_job" ? repository : target;
}
