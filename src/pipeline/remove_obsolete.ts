import {
  type DiscoveredStack,
  errors,
  fewOf,
  formatRevision,
  formatStackKey,
  type SourceRequest,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import { afterTurns, decideRemoval, type ObsoleteFacts } from "../plan/mod.ts";
import type { Target } from "../prepare/mod.ts";
import { allInTurns, within } from "../system/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import type { Decision } from "./decision.ts";
import {
  type Kept,
  lookedAt,
  type ObsoletePlan,
  type ObsoleteRun,
  planObsolete,
  planOfKept,
  whyObsolete,
} from "./destroy/plan_obsolete.ts";
import {
  deletedAfter,
  deployedListener,
  isDeployedBy,
  type LeftData,
} from "./destroy/left_data.ts";
import { removeDiscovered } from "./destroy/remove_discovered.ts";
import { discoveryOwner } from "./expand_deployments.ts";
import type { PipelineParts } from "./parts.ts";
import { learnedOfAll } from "./waits.ts";

/** Records the configuration that names a stack and may remove it once it does not. */
export function noteDiscovered(
  parts: PipelineParts,
  { target, request }: { readonly target: Target; readonly request: SourceRequest },
  decision: Decision,
): void {
  const { key, configuration, revision, deployment } = target;
  const exists = decision.kind === "deploy" ||
    (decision.kind === "skip" && decision.plan.reason === "no_changes");
  if (!exists) return;
  const owner = discoveryOwner(configuration, request);
  const own = { key, owner, repository: revision.source.name, directory: deployment.workingDir };
  const stack = target.discovered ?? (request.deployments.length === 0 ? own : undefined);
  if (stack === undefined) parts.ledger.discovered.remove(key);
  else {
    // A run of a newer commit may have found it unnamed since this one began with it.
    const isLate = parts.newest.overtaken([configuration, revision]).length > 0;
    const fresh = isLate ? parts.ledger.discovered.get(key)?.fresh : undefined;
    parts.ledger.discovered.set({ ...stack, ...(fresh && { fresh }) });
  }
}

/**
 * Removes the stacks that {@link planObsolete} found, or the one in `only`, and returns their keys. A removal that
 * fails keeps neither other removals nor the run's deployments from happening. Those come after the removals,
 * which free ports and names, but wait for removals of other repositories' stacks for half a minute alone: how
 * long a container may take to stop is up to its author. They come before the removal of a stack that was moved
 * to another engine, and before data is deleted, with which they may go on.
 *
 * Throws `not_found` where the one in `only` is not removed.
 */
export async function removeObsolete(
  parts: PipelineParts,
  { deploy, ...run }: ObsoleteRun & {
    readonly deploy: (listener: TargetListener, removed?: Removed) => Promise<void>;
  },
  listeners: readonly TargetListener[],
  signal: AbortSignal,
): Promise<StackKey[]> {
  const { trigger, origin, configuration, only } = run;
  const planned = await planObsolete(parts, run, signal);
  const { owner, removals, kept, mass } = only === undefined ? planned : onlyOf(planned, run, only);
  const keys = removals.map((each) => each.unnamed.stack.key);
  const waiting = mass === undefined ? [] : keys.map(formatStackKey);
  if (only === undefined) parts.ledger.discovered.setPending(owner, waiting);
  const tellerOf = ({ key, repository }: DiscoveredStack) =>
    createTeller(listeners, { key, repository, trigger, origin, configuration }, configuration);
  await learnedOfAll(parts, [...kept.map(({ stack }) => stack.key), ...keys], signal);
  const tell = (each: Kept) => Promise.resolve(tellerOf(each.stack).tell(keeping(each)));
  await allInTurns(kept, tell);
  if (mass !== undefined) parts.log.warning(mass, { repository: owner.source });
  const remove = async (facts: ObsoleteFacts, onDataLeft: (left: LeftData) => void) => {
    const { unnamed: { stack } } = facts;
    const teller = tellerOf(stack);
    const verdict = decideRemoval(facts);
    if (verdict.kind !== "remove") return keep(teller, verdict);
    const because = whyObsolete(stack.directory);
    const work = { run, facts, verdict, teller, because, looked: lookedAt(run), onDataLeft };
    await removeDiscovered(parts, work, signal);
  };
  const deployed = new Set<string>();
  // A run for one stack alone deploys none of the others.
  const here = only === undefined ? run.expansion.deployments : [];
  const isDeployed = isDeployedBy(parts, { here, deployed, looked: lookedAt(run) });
  const all = async (onDataLeft: (left: LeftData) => void) => {
    const removeAll = (those: readonly ObsoleteFacts[]) =>
      allInTurns(those, (each) => remove(each, onDataLeft));
    const first = removals.filter(({ unnamed }) => unnamed.movedTo === undefined);
    const ends = Map.groupBy(first, ({ unnamed }) => unnamed.stack.repository).entries()
      .map(([repository, those]) => [repository, removeAll(those)] as const);
    const removing = new Map(ends);
    const removed = removedBefore(parts, removing, signal);
    await Promise.all([...removing.values(), deploy(deployedListener(deployed), removed)]);
    const moved = removals.filter(({ unnamed }) => unnamed.movedTo !== undefined);
    await removeAll(moved.map((each) => afterTurns(each, isDeployed)));
  };
  await deletedAfter(parts, isDeployed, all, signal);
  return keys;
}

/** Waits for removals before a stack of a repository is deployed, as {@link removeObsolete} has them. */
export type Removed = (repository: string) => Promise<void>;

/** Milliseconds that deployments wait for removals of other repositories' stacks. */
const PATIENCE_MS = 30_000;

/** What waits for removals, by repository, before deployments: for the own ones to their end, for others a while. */
function removedBefore(
  { clock, log }: Pick<PipelineParts, "clock" | "log">,
  removing: ReadonlyMap<string, Promise<unknown>>,
  signal: AbortSignal,
): Removed | undefined {
  if (removing.size === 0) return undefined;
  const going = new Set(removing.keys());
  const all = removing.entries().map(([each, end]) => end.finally(() => going.delete(each)));
  const waited = within(Promise.allSettled(all), PATIENCE_MS, clock, signal).then((isDone) => {
    if (isDone) return;
    const whose = fewOf([...going], MOST_TOLD);
    log.warning(`removals of stacks of ${whose} take long: others are deployed meanwhile`);
  });
  waited.catch(() => {});
  return async (repository) => {
    await waited;
    await removing.get(repository);
  };
}

/** Names in a line of the log. */
const MOST_TOLD = 3;

/** The plan for one stack alone, as a person asked. Throws `not_found` where there is no removal of it. */
function onlyOf(
  { owner, removals, kept }: ObsoletePlan,
  { configuration }: ObsoleteRun,
  only: StackKey,
): ObsoletePlan {
  const isMeant = ({ stack: { key } }: Pick<Kept, "stack">) =>
    formatStackKey(key) === formatStackKey(only);
  const meant = removals.filter(({ unnamed }) => isMeant(unnamed));
  if (meant.length > 0) return { owner, removals: meant, kept: [], mass: undefined };
  const [why] = kept.filter(isMeant).map(({ because }) => `, and it is kept: ${because}`);
  throw errors.not_found(
    `${configuration.source.name} does not name ${only.name} any more at ` +
      formatRevision(configuration) + (why ?? ""),
  );
}

function keep(teller: Teller, kept: Parameters<typeof keeping>[0]): void {
  teller.tell(keeping(kept));
  const { because: message } = kept;
  teller.tell({ kind: "ended", end: { status: "skipped", reason: "paused", message } });
}

function keeping(kept: Pick<Kept, "because" | "isSure" | "isNamed">) {
  const unsure = { kind: "skip", message: `it is kept: ${kept.because}`, services: [] } as const;
  const decision = { ...(kept.isSure ? planOfKept(kept) : unsure), changes: [] };
  return { kind: "decided", decision } as const;
}
