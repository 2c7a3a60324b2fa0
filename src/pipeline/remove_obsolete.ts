import { dataText } from "../deploy/mod.ts";
import {
  type DiscoveredStack,
  errors,
  formatRevision,
  formatStackKey,
  ownerFrom,
  type SourceRequest,
  type StackKey,
  type TargetEnd,
  type TargetListener,
} from "../model/mod.ts";
import type { Hold, ObsoleteVerdict } from "../plan/mod.ts";
import { stage, type Target } from "../prepare/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import { nothingToDestroy } from "./act.ts";
import { remembering } from "./decide/remembering.ts";
import type { Decision } from "./decision.ts";
import {
  removalAgain,
  removalHold,
  type RemovalWish,
  wishOfSource,
} from "./destroy/failed_removal.ts";
import { overtakenBy } from "./destroy/is_newer.ts";
import {
  type Kept,
  lookedAt,
  type ObsoletePlan,
  type ObsoleteRun,
  planObsolete,
  planOfKept,
  type Removal,
  whyObsolete,
} from "./destroy/plan_obsolete.ts";
import { destroyTarget } from "./destroy_target.ts";
import { discoveryOwner } from "./expand_deployments.ts";
import { personHold } from "./hold.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { otherOwner, recordedOwner } from "../record/mod.ts";
import { allInTurns, deploying } from "../system/mod.ts";
import { noteDeferred, windowHold } from "./sync_gate.ts";
import { learnedOfAll, outwaitProcess, untilSettled, whileOwned } from "./waits.ts";

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
    if (held === "") await remove(parts, { run, removal, teller }, signal);
    else keep(teller, held);
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

function keep(teller: Teller, held: string): "done" {
  teller.tell(keeping({ because: held, isSure: true }));
  teller.tell({ kind: "ended", end: { status: "skipped", reason: "paused", message: held } });
  return "done";
}

function keeping({ because, isSure }: Pick<Kept, "because" | "isSure">) {
  const unsure = { kind: "skip", message: `it is kept: ${because}`, services: [] } as const;
  const decision = { ...(isSure ? planOfKept(because) : unsure), changes: [] };
  return { kind: "decided", decision } as const;
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
  const { stack, stack: { key } } = removal;
  const { configuration, origin, request, trigger } = run;
  const release = parts.ledger.current(key)?.id;
  const isUnchanged = () =>
    JSON.stringify(parts.ledger.discovered.get(key)) === JSON.stringify(stack) &&
    parts.ledger.current(key)?.id === release;
  const wish = wishOfSource({ source: configuration.source.name, origin });
  await parts.stackLock.run(formatStackKey(key), async () => {
    try {
      await untilSettled(parts, key, async () => {
        await outwaitProcess(parts, key, (text) => teller.tell({ kind: "step", text }), signal);
        // Another run may have deployed it while this one waited, or another process.
        if (!isUnchanged()) return "done";
        return await decideAndRemove(parts, { run, removal, teller, wish }, signal);
      }, signal);
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

/** Decides about a removal in its stack's lock, and does it; `moved` where the stack changed before it began. */
async function decideAndRemove(
  parts: PipelineParts,
  { run, removal, teller, wish }: RemovalWork & { readonly wish: RemovalWish },
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  const { stack, stack: { key, directory } } = removal;
  const { configuration, origin, request, trigger } = run;
  const since = parts.ledger.mark(key);
  const message = whyObsolete(directory);
  const decision = { kind: "destroy", message, changes: [], services: [] } as const;
  const repositories = [stack.repository, configuration.source.name];
  const asked = { target: { key, trigger, origin, configuration }, request };
  const heldNow = () => {
    const closed = windowHold(parts, { key, repositories, origin }, []);
    noteDeferred(parts, asked, closed);
    return personHold(parts, key) ?? closed ?? removalHold(parts, key, wish, decision);
  };
  const held = heldNow();
  if (held !== undefined) return deferRemoval(teller, held);
  teller.tell({ kind: "decided", decision });
  const on = await partsFor(parts, key, signal);
  const destroy = async (within: AbortSignal) => {
    // A wait for the slot is as long as others' deployments take.
    const waits = heldNow();
    if (waits !== undefined) return deferRemoval(teller, waits);
    const newer = await overtakenBy(on, lookedAt(run), within);
    if (newer !== undefined) return keep(teller, newer);
    teller.tell({ kind: "started" });
    const decided = { run, removal, because: message, since };
    const end = await remembering(
      parts,
      key,
      wish,
      () => destroyObsolete(on, decided, within),
      within,
    );
    if (end !== "moved") teller.tell({ kind: "ended", end });
    return end === "moved" ? end : "done";
  };
  const ofOwner = { keys: [key], owners: [ownerFrom(configuration)] };
  const owned = (within: AbortSignal, ask: () => void) => {
    ask();
    const work = () => stage(parts, teller.target, "deploy", () => destroy(within));
    return deploying(parts, { ...stack, configuration }, work, within);
  };
  return await whileOwned(parts, ofOwner, owned, signal);
}

/** Tells of a removal that waits: for a sync window, a person, or the time of its next attempt. */
function deferRemoval(teller: Teller, { reason, message, retryAt }: Hold): "done" {
  const when = retryAt === undefined ? {} : { retryAt };
  const told = { kind: "skip", reason, message, changes: [], services: [], ...when } as const;
  teller.tell({ kind: "decided", decision: told });
  teller.tell({ kind: "ended", end: { status: "skipped", message } });
  return "done";
}

async function destroyObsolete(
  parts: PipelineParts,
  { run, removal, because, since }: Pick<RemovalWork, "run" | "removal"> & {
    readonly because: string;
    readonly since: string;
  },
  signal: AbortSignal,
): Promise<TargetEnd | "moved"> {
  const { stack: found, stack: { key }, removeVolumes, removeImages } = removal;
  const what = { removeVolumes, removeImages };
  const decided = { by: ownerFrom(run.configuration), found, what, since };
  const deleted = await destroyTarget(parts, key, decided, signal);
  if (deleted === "moved") return deleted;
  if (deleted !== undefined) {
    const message = `removed: ${because}${dataText("deleted", deleted)}`;
    return { status: "succeeded", message };
  }
  parts.ledger.discovered.remove(key);
  return nothingToDestroy(key);
}
