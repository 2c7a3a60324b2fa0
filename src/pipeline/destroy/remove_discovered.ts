import { formatStackKey, ownerFrom, type Revision, type StackKey } from "../../model/mod.ts";
import type { Goes, ObsoleteFacts } from "../../plan/mod.ts";
import { stage } from "../../prepare/mod.ts";
import { otherOwner, recordedOwner } from "../../record/mod.ts";
import { deploying, OVERTAKEN } from "../../system/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { isOvertaken } from "../act.ts";
import { remembering } from "../decide/remembering.ts";
import { leave, overtaken, skip, waiting } from "../decision.ts";
import { personHold } from "../hold.ts";
import { partsFor, type PipelineParts } from "../parts.ts";
import type { OpenedSource } from "../open_source.ts";
import { noteDeferred, windowHold } from "../sync_gate.ts";
import { outwaitProcess, untilSettled, whileOwned } from "../waits.ts";
import type { LeftData } from "./left_data.ts";
import { removeStack } from "./remove_stack.ts";
import {
  type AttemptedRemoval,
  removalAgain,
  removalHold,
  wishOfSource,
} from "./failed_removal.ts";

/** A removal of a discovered stack, and why. */
interface RemovalWork {
  readonly run: Pick<OpenedSource, "request" | "configuration" | "trigger" | "origin" | "line">;
  readonly facts: ObsoleteFacts;
  readonly verdict: Goes;
  readonly teller: Teller;
  readonly because: string;
  /** The revisions by which the run found that nothing names it. */
  readonly looked: readonly Revision[];
  /** Told of a removal that has not ended: data goes later. */
  readonly onDataLeft: (left: LeftData) => void;
}

/**
 * Removes a discovered stack that nothing names any more, where that is still so when its turn comes, and nobody
 * holds it. Every end is told, a failure included, but of one whose data goes later; rejects with the signal's
 * reason alone.
 */
export async function removeDiscovered(
  parts: PipelineParts,
  work: RemovalWork,
  signal: AbortSignal,
): Promise<void> {
  const { run: { configuration, origin, request, trigger }, facts, teller } = work;
  const { unnamed: { stack, stack: { key } } } = facts;
  const release = parts.ledger.current(key)?.id;
  const isUnchanged = () =>
    JSON.stringify(parts.ledger.discovered.get(key)) === JSON.stringify(stack) &&
    parts.ledger.current(key)?.id === release;
  const wish = wishOfSource({ source: configuration.source.name, origin });
  const attempted = { trigger, configuration, configTarget: request.target, wish };
  const once = async (round: number) => {
    await outwaitProcess(parts, key, (text) => teller.tell({ kind: "step", text }), signal);
    // Another run may have deployed it while this one waited, or another process.
    if (isUnchanged()) return await decideAndRemove(parts, { ...work, attempted }, signal);
    return round === 0 ? "done" : leave(teller, changedMeanwhile(key));
  };
  const locked = async () => {
    try {
      await untilSettled(parts, key, once, signal);
    } catch (thrown) {
      teller.fail(`removing ${key.name}`, thrown, signal, removalAgain(parts, key, attempted));
      signal.throwIfAborted();
      // Another owner has taken the stack over and decides about it now; other conflicts pass.
      const other = otherOwner(recordedOwner(parts.ledger, key), ownerFrom(configuration));
      if (other !== undefined) parts.ledger.discovered.remove(key);
    }
  };
  try {
    await parts.stackLock.inTurn(formatStackKey(key), locked, signal, { line: work.run.line });
  } catch (thrown) {
    if (thrown !== OVERTAKEN) throw thrown;
    leave(teller, overtaken(key));
  }
}

/** Decides about a removal and carries it out. Returns `moved` when another process changed the stack meanwhile. */
async function decideAndRemove(
  parts: PipelineParts,
  { run, facts, verdict, teller, because: message, looked, attempted, onDataLeft }: RemovalWork & {
    readonly attempted: AttemptedRemoval;
  },
  signal: AbortSignal,
): Promise<"moved" | "done"> {
  const { configuration, origin, request, trigger } = run;
  const { unnamed: { stack, stack: { key } } } = facts;
  const repositories = [stack.repository, configuration.source.name];
  const asked = { target: { key, trigger, origin, configuration }, request };
  const closedNow = () => {
    const closed = windowHold(parts, { key, repositories, origin }, []);
    noteDeferred(parts, asked, closed);
    return closed;
  };
  const since = parts.ledger.mark(key);
  const done = `removed: ${message}`;
  const removal = { verdict, by: ownerFrom(configuration), found: stack, since, done };
  const decision = { kind: "destroy", message, changes: [], services: [] } as const;
  const held = closedNow() ?? removalHold(parts, key, attempted, decision);
  if (held !== undefined) return leave(teller, waiting(held));
  teller.tell({ kind: "decided", decision });
  const on = await partsFor(parts, key, signal);
  const destroy = async (within: AbortSignal) => {
    // The slot and the source are waited for: what was asked before that is asked again.
    const { wish } = attempted;
    if (await isOvertaken(on, teller, { wish, looked }, within)) return undefined;
    const waits = personHold(parts, key) ?? closedNow();
    if (waits !== undefined) return void leave(teller, waiting(waits));
    teller.tell({ kind: "started" });
    const remove = () => removeStack(on, key, { ...removal, isUnnamed: true }, within);
    return await remembering(parts, key, wish, remove, within);
  };
  const ofOwner = { keys: [key], owners: [ownerFrom(configuration)] };
  const owned = (within: AbortSignal, ask: () => void) => {
    ask();
    const work = () => stage(parts, teller.target, "deploy", () => destroy(within));
    return deploying(parts, { ...stack, configuration }, work, within);
  };
  const end = await whileOwned(parts, ofOwner, owned, signal);
  if (end === "moved") return end;
  if (end === "data_left") {
    const left = { stack, facts, teller, configuration, looked, done };
    onDataLeft({ ...left, since: parts.ledger.mark(key) });
  } else if (end !== undefined) teller.tell({ kind: "ended", end });
  return "done";
}

/** The decision about a removal that another process or run has done, or made needless, before this one could. */
function changedMeanwhile({ name }: StackKey): ReturnType<typeof skip> {
  return skip(
    "superseded",
    `${name} was changed meanwhile: what did that, or the next run, decides`,
  );
}
