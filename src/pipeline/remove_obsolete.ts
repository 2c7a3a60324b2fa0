import { dataText } from "../deploy/mod.ts";
import {
  type DiscoveredStack,
  type DiscoveryOwner,
  errors,
  formatRevision,
  formatStackKey,
  ownerFrom,
  type Revision,
  type SourceRequest,
  type StackKey,
  type TargetEnd,
  type TargetListener,
} from "../model/mod.ts";
import {
  chooseObsolete,
  type DiscoveryScan,
  type Hold,
  type ObsoleteVerdict,
  permitsRemovals,
} from "../plan/mod.ts";
import { stage, type Target } from "../prepare/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import { nothingToDestroy } from "./act.ts";
import { remembering } from "./decide/remembering.ts";
import type { Decision } from "./decision.ts";
import { removalAgain, removalHold, wishOfSource } from "./destroy/failed_removal.ts";
import { isNewer, overtakenBy } from "./destroy/is_newer.ts";
import { destroyTarget } from "./destroy_target.ts";
import { discoveryOwner, keyOf, removalPolicy, type ScannedBase } from "./expand_deployments.ts";
import { personHold } from "./hold.ts";
import type { OpenedSource } from "./open_source.ts";
import { whyLeftAlone } from "./owner/own_stack.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { otherOwner, recordedOwner, whyElsewhere } from "../record/mod.ts";
import { allInTurns, deploying } from "../system/mod.ts";
import { noteDeferred, windowHold } from "./sync_gate.ts";
import { learnedOfAll, outwaitProcess, whileOwned } from "./waits.ts";

type ObsoleteRun = Pick<
  OpenedSource,
  "request" | "configuration" | "expansion" | "trigger" | "origin" | "passes"
>;

/** A stack that is to be removed. */
export type Removal = ObsoleteVerdict & { readonly kind: "remove" };

type Kept = ObsoleteVerdict & { readonly kind: "keep" };

/** The plan for discovered stacks that nothing names any more. */
interface ObsoletePlan {
  readonly owner: DiscoveryOwner;
  readonly removals: readonly Removal[];
  readonly kept: readonly Kept[];
  /** Why the removals wait for a person or another run; empty when they do not wait. */
  readonly held: string;
}

/** Finds the stacks that an earlier run deployed and that nothing in this run names. */
export async function planObsolete(
  parts: PipelineParts,
  run: ObsoleteRun,
  signal: AbortSignal,
): Promise<ObsoletePlan> {
  const { configuration, request, expansion, origin } = run;
  const { deployments, failures, scans } = expansion;
  const owner = discoveryOwner(configuration, request);
  const looked = lookedAt(run);
  const named = [...deployments.map(keyOf), ...failures.map((each) => each.key)];
  const names = new Set(named.map(formatStackKey));
  const stacks = parts.ledger.discovered.of(owner);
  const discovered = stacks.filter(({ policy }) => policy !== undefined);
  const unnamed = stacks.filter(({ key }) => !names.has(formatStackKey(key)));
  const candidates = await allInTurns(unnamed, async (stack) => {
    const isThere = stack.policy !== undefined || parts.ledger.current(stack.key) !== undefined;
    return isThere ? [{ ...stack, newer: await isNewer(parts, stack, looked, signal) }] : [];
  });
  const scanned = await Promise.all(scans.map((scan) => scanOf(run, scan)));
  const chosen = chooseObsolete({
    stacks: candidates.flat(),
    named,
    scans: scanned,
    isWhole: request.deployments.length === 0,
    complete: failures.length === 0,
  });
  const verdicts = await allInTurns(chosen, (each) => unlessKept(parts, each, signal));
  const removals = verdicts.filter((each) => each.kind === "remove");
  const permitted = permitsRemovals({
    removals: removals.map((each) => each.stack.key),
    owned: discovered.length,
    origin,
    pending: parts.ledger.discovered.pending(owner),
  });
  return {
    owner,
    removals,
    kept: verdicts.filter((each) => each.kind === "keep"),
    held: permitted
      ? ""
      : `${removals.length} of ${discovered.length} discovered stacks would be ` +
        `removed at once; that needs a manual trigger, or the same result in the next run`,
  };
}

/** The revisions by which a run decides what nothing names any more. */
function lookedAt({ configuration, expansion: { scans } }: ObsoleteRun): readonly Revision[] {
  return [configuration, ...scans.map(({ revision }) => revision)];
}

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
  else parts.ledger.discovered.set(stack);
}

/** Keeps a stack that a person holds, this process runs in, or another context has; other verdicts stay as they are. */
async function unlessKept(
  parts: PipelineParts,
  verdict: ObsoleteVerdict,
  signal: AbortSignal,
): Promise<ObsoleteVerdict> {
  if (verdict.kind === "keep") return verdict;
  const { stack, stack: { key } } = verdict;
  const because = personHold(parts, key)?.message ??
    await whyLeftAlone(parts, key, "is not removed, although nothing names it any more", signal) ??
    whyElsewhere(parts.ledger, key);
  return because === undefined ? verdict : { kind: "keep", stack, because, isSure: true };
}

/**
 * Removes the stacks that {@link planObsolete} found, or the one in `only`, and returns their keys. A removal
 * that fails keeps neither other removals nor the run's deployments from happening.
 *
 * Throws `not_found` where the one in `only` is not removed.
 */
export async function removeObsolete(
  parts: PipelineParts,
  { only, ...run }: ObsoleteRun & { readonly only?: StackKey | undefined },
  listeners: readonly TargetListener[],
  signal: AbortSignal,
): Promise<StackKey[]> {
  const planned = await planObsolete(parts, run, signal);
  const { owner, removals, kept, held } = only === undefined ? planned : onlyOf(planned, run, only);
  const waiting = held === "" ? [] : removals.map((each) => formatStackKey(each.stack.key));
  if (only === undefined) parts.ledger.discovered.setPending(owner, waiting);
  const { trigger, origin, configuration } = run;
  const tellerOf = ({ key, repository }: DiscoveredStack) =>
    createTeller(listeners, { key, repository, trigger, origin, configuration }, configuration);
  await learnedOfAll(parts, [...kept, ...removals].map(({ stack }) => stack.key), signal);
  const tell = (each: Kept) => Promise.resolve(tellerOf(each.stack).tell(keeping(each)));
  await allInTurns(kept, tell);
  if (held !== "") parts.log.warning(held, { repository: owner.source });
  await allInTurns(removals, async (removal) => {
    const teller = tellerOf(removal.stack);
    if (held !== "") return keep(teller, held);
    await remove(parts, { run, removal, teller }, signal);
  });
  return removals.map((each) => each.stack.key);
}

/** The plan for one stack alone, as a person asked. Throws `not_found` where there is no removal of it. */
function onlyOf(
  { owner, removals, kept }: ObsoletePlan,
  { configuration }: ObsoleteRun,
  only: StackKey,
): ObsoletePlan {
  const isMeant = ({ stack: { key } }: ObsoleteVerdict) =>
    formatStackKey(key) === formatStackKey(only);
  const meant = removals.filter(isMeant);
  if (meant.length > 0) return { owner, removals: meant, kept: [], held: "" };
  const [why] = kept.filter(isMeant).map(({ because }) => `, and it is kept: ${because}`);
  throw errors.not_found(
    `${configuration.source.name} does not name ${only.name} any more at ` +
      formatRevision(configuration) + (why ?? ""),
  );
}

function keep(teller: Teller, held: string): void {
  teller.tell(keeping({ because: held, isSure: true }));
  teller.tell({ kind: "ended", end: { status: "skipped", reason: "paused", message: held } });
}

function keeping({ because, isSure }: Pick<Kept, "because" | "isSure">) {
  const unsure = { kind: "skip", message: `it is kept: ${because}`, services: [] } as const;
  const decision = { ...(isSure ? planOfKept(because) : unsure), changes: [] };
  return { kind: "decided", decision } as const;
}

/** The plan for a stack that stays although nothing names it any more. */
export function planOfKept(why: string) {
  const message = `nothing names it any more, and it is kept with its data: ${why}`;
  return { kind: "skip", reason: "unnamed", message, services: [] } as const;
}

interface RemovalWork {
  readonly run: ObsoleteRun;
  readonly removal: Removal;
  readonly teller: Teller;
}

async function remove(
  parts: PipelineParts,
  { run, removal, teller }: RemovalWork,
  signal: AbortSignal,
): Promise<void> {
  const { stack } = removal;
  const { key, directory } = stack;
  const release = parts.ledger.current(key)?.id;
  const isUnchanged = () =>
    JSON.stringify(parts.ledger.discovered.get(key)) === JSON.stringify(stack) &&
    parts.ledger.current(key)?.id === release;
  await parts.stackLock.run(formatStackKey(key), async () => {
    const message = whyObsolete(directory);
    const { configuration, origin, request, trigger } = run;
    const repositories = [stack.repository, configuration.source.name];
    const asked = { target: { key, trigger, origin, configuration }, request };
    const closedNow = () => {
      const closed = windowHold(parts, { key, repositories, origin }, []);
      noteDeferred(parts, asked, closed);
      return closed;
    };
    const decision = { kind: "destroy", message, changes: [], services: [] } as const;
    const wish = wishOfSource({ source: configuration.source.name, origin });
    try {
      await outwaitProcess(parts, key, (text) => teller.tell({ kind: "step", text }), signal);
      // Another run may have deployed it while this one waited, or another process.
      if (!isUnchanged()) return;
      const held = closedNow() ?? removalHold(parts, key, wish, decision);
      if (held !== undefined) return deferRemoval(teller, held);
      teller.tell({ kind: "decided", decision });
      const on = await partsFor(parts, key, signal);
      const destroy = async (within: AbortSignal) => {
        // A wait for the slot is as long as others' deployments take.
        const waits = personHold(parts, key) ?? closedNow();
        if (waits !== undefined) return deferRemoval(teller, waits);
        const newer = await overtakenBy(on, lookedAt(run), within);
        if (newer !== undefined) return keep(teller, newer);
        teller.tell({ kind: "started" });
        const remove = () => destroyObsolete(on, { run, removal, because: message }, within);
        return await remembering(parts, key, wish, remove, within);
      };
      const holder = { ...stack, configuration };
      const ofOwner = { keys: [key], owners: [ownerFrom(configuration)] };
      const owned = (within: AbortSignal, ask: () => void) => {
        ask();
        const work = () => stage(parts, teller.target, "deploy", () => destroy(within));
        return deploying(parts, holder, work, within);
      };
      const end = await whileOwned(parts, ofOwner, owned, signal);
      if (end !== undefined) teller.tell({ kind: "ended", end });
    } catch (thrown) {
      const again = removalAgain(parts, key, { trigger, request, wish });
      teller.fail(`removing ${key.name}`, thrown, signal, again);
      signal.throwIfAborted();
      // Another owner has taken the stack over and decides about it now; other conflicts pass.
      const other = otherOwner(recordedOwner(parts.ledger, key), ownerFrom(run.configuration));
      if (other !== undefined) parts.ledger.discovered.remove(key);
    }
  }, signal);
}

/** Tells of a removal that waits: for a sync window, a person, or the time of its next attempt. */
function deferRemoval(teller: Teller, { reason, message, retryAt }: Hold): undefined {
  const when = retryAt === undefined ? {} : { retryAt };
  const told = { kind: "skip", reason, message, changes: [], services: [], ...when } as const;
  teller.tell({ kind: "decided", decision: told });
  teller.tell({ kind: "ended", end: { status: "skipped", message } });
}

/** The reason for removing a stack that was discovered in a directory. */
export function whyObsolete(directory: string): string {
  return `nothing names it any more: it was discovered in ${directory}`;
}

async function destroyObsolete(
  parts: PipelineParts,
  { run, removal, because }: Pick<RemovalWork, "run" | "removal"> & { readonly because: string },
  signal: AbortSignal,
): Promise<TargetEnd> {
  const { stack: found, stack: { key }, removeVolumes, removeImages } = removal;
  const identity = { by: ownerFrom(run.configuration), found };
  const what = { removeVolumes, removeImages };
  const deleted = await destroyTarget(parts, key, identity, what, signal);
  if (deleted !== undefined) {
    const message = `removed: ${because}${dataText("deleted", deleted)}`;
    return { status: "succeeded", message };
  }
  parts.ledger.discovered.remove(key);
  return nothingToDestroy(key);
}

async function scanOf(
  { trigger, passes }: ObsoleteRun,
  { base, revision }: ScannedBase,
): Promise<DiscoveryScan> {
  const { workingDir, autoDiscovery, pause, webhookFilter } = base.deployment;
  return {
    repository: revision.source.name,
    workingDir,
    depth: autoDiscovery.depth,
    policy: removalPolicy(autoDiscovery),
    paused: pause,
    // Only a webhook may be ignored by a deployment.
    admitted: trigger !== "webhook" || await passes(webhookFilter),
  };
}
