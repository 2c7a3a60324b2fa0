import { dataText, type RemovedData, volumesOf } from "../../deploy/mod.ts";
import {
  type DiscoveredStack,
  errors,
  formatStackKey,
  ownerFrom,
  type Plan,
  type Revision,
  type StackKey,
  type TargetListener,
} from "../../model/mod.ts";
import { afterTurns, decideRemoval, keptData, type RemovalFacts } from "../../plan/mod.ts";
import { otherOwner, recordedOwner } from "../../record/mod.ts";
import { allInTurns, deploying } from "../../system/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { remembering } from "../decide/remembering.ts";
import { destroyTarget } from "../destroy_target.ts";
import { type ExpandedDeployment, keyOf } from "../expand_deployments.ts";
import { partsFor, type PipelineParts } from "../parts.ts";
import { type AttemptedRemoval, removalAgain } from "./failed_removal.ts";
import { written } from "./finish_destroy.ts";
import { overtakenBy } from "./is_newer.ts";

/** A stack that was removed but for its data and images, which go after the other stacks of the run were deployed. */
export interface LeftData {
  readonly stack: DiscoveredStack;
  /** What decides about the data, as it was known before. */
  readonly facts: RemovalFacts;
  readonly teller: Teller;
  /** Words for what was done. */
  readonly done: string;
  readonly configuration: Revision;
  /** The revisions by which the run found that it has to go. */
  readonly looked: readonly Revision[];
  /** The ledger's mark of the stack once it was removed. */
  readonly since: string;
  /** The attempt of a configuration that names it with `destroy`: where its data has to wait, it is tried again. */
  readonly attempted?: AttemptedRemoval;
}

/**
 * Deletes the data of removed stacks after the other ones of the run had their turn, as {@link decideRemoval} decides then,
 * and tells how each removal ended. A stack that goes on with a volume of a removed one says so in its release, and
 * that is known only now.
 */
export async function deleteLeftData(
  parts: PipelineParts,
  left: readonly LeftData[],
  isDeployed: (key: StackKey) => boolean,
  signal: AbortSignal,
): Promise<void> {
  await allInTurns(left, async (each) => {
    const { stack: { key }, configuration, done, teller, attempted } = each;
    const work = () => deleteData(parts, each, isDeployed, signal);
    try {
      const data = attempted === undefined
        ? await work()
        : await remembering(parts, key, attempted.wish, work, signal);
      forgetLeft(parts, key);
      const message = `${done}${dataText("deleted", data)}`;
      teller.tell({ kind: "ended", end: { status: "succeeded", message } });
    } catch (thrown) {
      // What stays noted is deleted by the next run that does not want it.
      const other = otherOwner(recordedOwner(parts.ledger, key), ownerFrom(configuration));
      if (other !== undefined) forgetLeft(parts, key);
      const doing = `deleting the data of ${key.name}, whose containers were removed`;
      const again = attempted === undefined ? {} : removalAgain(parts, key, attempted);
      teller.fail(doing, thrown, signal, again);
    }
  });
}

/** Forgets that a stack has left data, unless it came back meanwhile. */
function forgetLeft({ ledger: { discovered } }: Pick<PipelineParts, "ledger">, key: StackKey) {
  if (discovered.isLeft(key)) discovered.remove(key);
}

async function deleteData(
  anyParts: PipelineParts,
  { stack: found, facts, configuration, since, looked }: LeftData,
  isDeployed: (key: StackKey) => boolean,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { key } = found;
  const { discovered } = anyParts.ledger;
  const now = afterTurns(facts, isDeployed);
  /** What goes, where that is not decided about again by another attempt, and what stays. */
  const settled = (meanwhile?: string) => {
    const isOver = !discovered.isLeft(key);
    const verdict = decideRemoval({ ...now, ...(meanwhile && { meanwhile }), isOver });
    if (verdict.kind !== "remove") return { kept: [keptData(verdict.because)] };
    const { now: what, again, stays: kept } = verdict;
    // Of one that came back, or that a person removed, nothing is left to try.
    if (again) throw errors.deploy_failed(`kept ${kept.join("; ")}; tried again later`);
    return { kept, ...(what.removeVolumes || what.removeImages ? { what } : {}) };
  };
  const keeps = (why: string) => ({ deleted: [], kept: settled(why).kept });
  if (signal.aborted || !discovered.isLeft(key)) {
    return keeps("the run ended before the other stacks were deployed");
  }
  const { what, kept: why } = settled();
  const isKept = (facts.removeVolumes || facts.isStack) && what?.removeVolumes !== true;
  const kept = isKept ? [...why, ...await leftOf(anyParts, key, signal)] : why;
  if (what === undefined) return { deleted: [], kept };
  const isUnnamed = facts.unnamed !== undefined;
  const decided = { by: ownerFrom(configuration), found, what, since, isUnnamed };
  const parts = await partsFor(anyParts, key, signal);
  const work = async () => {
    // The lock and the slot are waited for: what a newer commit says is asked after that.
    const newer = await overtakenBy(parts, looked, signal);
    if (newer !== undefined) return keeps(newer.message);
    const data = await destroyTarget(parts, key, decided, signal);
    return data === "moved" || data === undefined
      ? keeps("it was changed meanwhile")
      : { ...data, kept: [...data.kept, ...kept] };
  };
  return await parts.stackLock.inTurn(
    formatStackKey(key),
    () => deploying(parts, { ...found, configuration }, work, signal),
    signal,
    {},
  );
}

/** What is left of a stack's data, named, for who deletes by hand what nothing uses; nothing where the engine is away. */
async function leftOf(
  anyParts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const parts = await partsFor(anyParts, key, signal);
    const volumes = await volumesOf(parts.host.engine, key, signal);
    return [...volumes.map(({ name }) => `volume ${name}`), ...await written(parts, key)];
  } catch {
    return [];
  }
}

/** Does `work`, which may leave data of stacks that it removes, and deletes that after it: see {@link deleteLeftData}. */
export async function deletedAfter(
  parts: PipelineParts,
  isDeployed: (key: StackKey) => boolean,
  work: (onDataLeft: (left: LeftData) => void) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const left: LeftData[] = [];
  const note = (each: LeftData) => {
    // Noted before anything is waited for: this process may be killed, and the containers tell no more.
    parts.ledger.discovered.set({ ...each.stack, isLeft: true });
    left.push(each);
  };
  await work(note)
    .finally(() => deleteLeftData(parts, left, isDeployed, signal));
}

/** Keeps the keys of a run's targets that are deployed as it wants them, by how they ended. */
export function deployedListener(deployed: Set<string>): TargetListener {
  return ({ key }) => {
    const name = formatStackKey(key);
    let isUnchanged = false;
    return (news) => {
      if (news.kind === "pending") deployed.delete(name);
      if (news.kind === "decided") isUnchanged = news.decision.reason === "no_changes";
      if (news.kind !== "ended") return;
      const { status } = news.end;
      if (status === "succeeded" || (status === "skipped" && isUnchanged)) deployed.add(name);
    };
  };
}

/** The keys of stacks that are deployed as a run wants them, once these plans of it are carried out. */
export function deployedBy(
  plans: readonly (StackKey & { readonly plan?: Plan })[],
): ReadonlySet<string> {
  const isThere = ({ plan }: typeof plans[number]) =>
    plan?.kind === "deploy" || (plan?.kind === "skip" && plan.reason === "no_changes");
  return new Set(plans.filter(isThere).map(formatStackKey));
}

/**
 * Tells which stacks are deployed as a run wants them: of those that have their turn in it, `here`, the ones that are
 * noted as `deployed`; of others, as of another target, those whose release is of what the run has looked at.
 */
export function isDeployedBy(
  parts: Pick<PipelineParts, "ledger">,
  { here, deployed, looked }: {
    readonly here: readonly ExpandedDeployment[];
    readonly deployed: ReadonlySet<string>;
    readonly looked: readonly Revision[];
  },
): (key: StackKey) => boolean {
  const names = new Set(here.map((each) => formatStackKey(keyOf(each))));
  return (key) => {
    const name = formatStackKey(key);
    return names.has(name) ? deployed.has(name) : isReleaseOf(parts, key, looked);
  };
}

/** Whether the release of a stack that runs is of revisions that a run has looked at, where it deploys nothing. */
function isReleaseOf(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
  looked: readonly Revision[],
): boolean {
  const release = ledger.current(key);
  if (release === undefined) return false;
  const { revision, configuration = revision } = release;
  const isLooked = ({ source, id }: Revision) =>
    looked.some((each) => each.source.name === source.name && each.id === id);
  return isLooked(revision) && isLooked(configuration);
}
