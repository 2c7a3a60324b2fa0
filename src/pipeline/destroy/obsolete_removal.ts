import { dataText } from "../../deploy/mod.ts";
import {
  formatStackKey,
  ownerFrom,
  type Revision,
  type StackKey,
  type TargetEnd,
} from "../../model/mod.ts";
import {
  type DataFacts,
  type DataFate,
  decideData,
  type ObsoleteVerdict,
  type Successor,
} from "../../plan/mod.ts";
import { destroyTarget, nothingToDestroy } from "../destroy_target.ts";
import type { PipelineParts } from "../parts.ts";

/** A verdict to remove a stack. */
export type RemoveVerdict = ObsoleteVerdict & {
  readonly kind: "remove";
  /** The stack of its name by another engine's context, after which it is removed, where that is deployed. */
  readonly movedTo?: StackKey | undefined;
};

/** A stack that is to be removed, since nothing names it any more, and what decides about its data. */
export type Removal = RemoveVerdict & { readonly data: DataFacts };

/** The removal of a stack by a run that wants these ones, and may be a part (`isPart`) of what its repository wants. */
export function asRemoval(
  parts: Pick<PipelineParts, "ledger">,
  verdict: RemoveVerdict,
  { wanted, isPart = false }: {
    readonly wanted: readonly StackKey[];
    readonly isPart?: boolean;
  },
): Removal {
  const { stack: { key, fresh = [] }, removeVolumes, removeImages } = verdict;
  const isStack = parts.ledger.current(key)?.swarm !== undefined;
  const successors = successorsOf(parts, key, wanted);
  return { ...verdict, data: { removeVolumes, removeImages, isStack, successors, fresh, isPart } };
}

/** Those of the stacks that a run wants which may need what another one leaves. */
export function successorsOf(
  parts: Pick<PipelineParts, "ledger">,
  key: StackKey,
  wanted: readonly StackKey[],
): Successor[] {
  return parts.ledger.owners.near(key, wanted)
    .map((each) => ({ key: each, isNew: isNew(parts, each) }));
}

/**
 * Whether a stack that a run wants was not wanted by the one before: it was never deployed, or was found unnamed, and a
 * rename to another one is taken back.
 */
export function isNew({ ledger }: Pick<PipelineParts, "ledger">, key: StackKey): boolean {
  return ledger.current(key) === undefined || ledger.discovered.get(key)?.fresh !== undefined;
}

/** The stacks that are removed before others are deployed, by {@link formatStackKey}; `destroyed` are those with `destroy`. */
export function goingFirst(
  removals: readonly Removal[],
  destroyed: readonly StackKey[],
): ReadonlySet<string> {
  const first = removals.filter((each) => each.movedTo === undefined).map(({ stack }) => stack.key);
  return new Set([...first, ...destroyed].map(formatStackKey));
}

/** What goes with the containers of a removed stack where its data and images wait for others. */
export const NOTHING_BESIDE: DataFate["what"] = {
  removeVolumes: false,
  keepsStackVolumes: true,
  removeImages: false,
};

/** Whether a stack was removed before, but for its data, and has not come back since. */
export function isLeftAlone(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
): boolean {
  return ledger.discovered.isLeft(key) && ledger.current(key) === undefined;
}

/** Words for when a stack or its data is removed after others, to append to a sentence. */
export function whenRemoved({ movedTo }: Removal, { after, what }: DataFate): string {
  const moved = movedTo &&
    `; once context ${movedTo.context} has deployed it as this commit has it`;
  const isLast = after.length > 0 && what.removeVolumes;
  return (moved ?? "") +
    (!isLast ? "" : "; its data goes last, where no other stack goes on with it");
}

/** What a removal that waits does, in words. */
export function whatGoes(removal: Removal): string {
  const { what, kept } = decideData(removal.data);
  if (kept.length > 0) return `removal, which keeps ${kept.join("; ")}`;
  const data = "its volumes and what it wrote to relative mounts";
  return `removal, which ${what.removeVolumes ? "deletes" : "keeps"} ${data}`;
}

/** Why a stack stays that is named by the context of another engine. */
export function notMoved({ name, context }: StackKey): string {
  return `${name} is named by context ${context}, which has not deployed it as this commit has it`;
}

/**
 * Removes a stack that nothing names any more, and tells what became of its data; as {@link destroyTarget}.
 * Returns `data_left` where that goes later.
 */
export async function destroyObsolete(
  parts: PipelineParts,
  { run, removal, because, since }: {
    readonly run: { readonly configuration: Revision };
    readonly removal: Removal;
    readonly because: string;
    /** The ledger's mark of the stack at the time of the decision. */
    readonly since: string;
  },
  signal: AbortSignal,
): Promise<TargetEnd | "moved" | "data_left"> {
  const { stack: found, stack: { key } } = removal;
  const fate = decideData(removal.data);
  const waits = fate.after.length > 0;
  if (waits && isLeftAlone(parts, key)) return "data_left";
  const by = ownerFrom(run.configuration);
  const what = waits ? NOTHING_BESIDE : fate.what;
  const decided = { by, found, what, since, isUnnamed: true };
  const data = await destroyTarget(parts, key, decided, signal);
  if (data === "moved") return data;
  if (data !== undefined && waits) return "data_left";
  if (data !== undefined) {
    const told = { ...data, kept: [...data.kept, ...fate.kept] };
    return { status: "succeeded", message: `removed: ${because}${dataText("deleted", told)}` };
  }
  parts.ledger.discovered.remove(key);
  return nothingToDestroy(key);
}
