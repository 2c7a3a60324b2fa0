import { dataText } from "../../deploy/mod.ts";
import { fewOf, ownerFrom, type Revision, type StackKey, type TargetEnd } from "../../model/mod.ts";
import type { ObsoleteVerdict } from "../../plan/mod.ts";
import { nothingToDestroy } from "../act.ts";
import { destroyTarget, keptData } from "../destroy_target.ts";
import type { PipelineParts } from "../parts.ts";

/** A verdict to remove a stack. */
export type RemoveVerdict = ObsoleteVerdict & {
  readonly kind: "remove";
  /** The stack of its name by another engine's context, after which it is removed, where that is deployed. */
  readonly movedTo?: StackKey | undefined;
};

/** A stack that is to be removed, since nothing names it any more. */
export type Removal = RemoveVerdict & {
  /** Whether its data would be deleted, but for {@link keepsData}. */
  readonly deletes: boolean;
  /** Why its data stays, although it would be deleted. */
  readonly keepsData: string | undefined;
  /** Stacks after which its data and images go, if they do: these may need them; see `deleteLeftData`. */
  readonly goesAfter: readonly StackKey[];
};

/**
 * The removal of a stack by a run that wants these ones, which `hasBeside` other polls of its repository. Its data
 * stays where one of them that may be on its engine was never deployed, now or when a run first found it unnamed:
 * the stack may have been renamed to it; and where other polls may name such a one. Else it goes after those that
 * the run wants, as its images do.
 */
export function asRemoval(
  { ledger }: Pick<PipelineParts, "ledger">,
  verdict: RemoveVerdict,
  { wanted, hasBeside = false }: {
    readonly wanted: readonly StackKey[];
    readonly hasBeside?: boolean;
  },
): Removal {
  const { stack: { key, fresh: before = [] }, removeVolumes, removeImages } = verdict;
  const deletes = removeVolumes || ledger.current(key)?.swarm !== undefined;
  const near = ledger.owners.near(key, wanted);
  const fresh = near.filter((each) => ledger.current(each) === undefined);
  const why = fresh.length > 0
    ? mayGoOn(fresh, "yet")
    : before.length > 0
    ? `${
      fewOf(before.map(({ name }) => name))
    } came when nothing named it any more, and may go on ` +
      "with it, as after a rename; delete by hand what nothing uses"
    : hasBeside
    ? "another poll of its repository may go on with it; delete by hand what nothing uses"
    : undefined;
  const keepsData = deletes ? why : undefined;
  return { ...verdict, deletes, keepsData, goesAfter: deletes || removeImages ? near : [] };
}

/** Words for when a stack or its data is removed after others, to append to a sentence. */
export function whenRemoved({ movedTo, deletes, keepsData, goesAfter }: Removal): string {
  const moved = movedTo &&
    `; once context ${movedTo.context} has deployed it as this commit has it`;
  const isLast = goesAfter.length > 0 && deletes && keepsData === undefined;
  return (moved ?? "") +
    (!isLast ? "" : "; its data goes last, where no other stack goes on with it");
}

/** What a removal that waits does, in words. */
export function whatGoes({ deletes, keepsData }: Removal): string {
  const data = "its volumes and what it wrote to relative mounts";
  if (keepsData !== undefined) return `removal, which keeps ${data}: ${keepsData}`;
  return `removal, which ${deletes ? "deletes" : "keeps"} ${data}`;
}

/** Why a stack stays that is named by the context of another engine. */
export function notMoved({ name, context }: StackKey): string {
  return `${name} is named by context ${context}, which has not deployed it as this commit has it`;
}

/** Words for data that stays, since stacks that are named are not deployed yet. */
export function mayGoOn(stacks: readonly StackKey[], how: string): string {
  const are = stacks.length === 1 ? "is" : "are";
  return `${
    fewOf(stacks.map(({ name }) => name))
  } ${are} named and not deployed ${how}, and may go on ` +
    "with it, as after a rename; delete by hand what nothing uses";
}

/** What goes with a removed stack at its end. */
export function toRemove({ removeVolumes, removeImages, keepsData }: Removal) {
  return keepsData === undefined
    ? { removeVolumes, removeImages }
    : { removeVolumes: false, keepsStackVolumes: true, removeImages };
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
  const { stack: found, stack: { key, isLeft = false }, keepsData, goesAfter } = removal;
  const what = goesAfter.length === 0
    ? toRemove(removal)
    : { removeVolumes: false, keepsStackVolumes: true, removeImages: false };
  const decided = { by: ownerFrom(run.configuration), found, what, since, isLeft, isUnnamed: true };
  const data = await destroyTarget(parts, key, decided, signal);
  if (data === "moved") return data;
  if (data !== undefined && goesAfter.length > 0) return "data_left";
  if (data !== undefined) {
    const kept = keepsData === undefined ? data.kept : [...data.kept, keptData(keepsData)];
    const message = `removed: ${because}${dataText("deleted", { ...data, kept })}`;
    return { status: "succeeded", message };
  }
  parts.ledger.discovered.remove(key);
  return nothingToDestroy(key);
}
