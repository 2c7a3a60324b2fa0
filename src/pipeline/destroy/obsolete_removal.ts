import { dataText } from "../../deploy/mod.ts";
import { fewOf, ownerFrom, type Revision, type StackKey, type TargetEnd } from "../../model/mod.ts";
import type { ObsoleteVerdict } from "../../plan/mod.ts";
import { nothingToDestroy } from "../act.ts";
import { destroyTarget, keptData } from "../destroy_target.ts";
import type { PipelineParts } from "../parts.ts";

type RemoveVerdict = ObsoleteVerdict & { readonly kind: "remove" };

/** A stack that is to be removed, since nothing names it any more. */
export type Removal = RemoveVerdict & {
  /** Why its data stays, although it would be deleted. */
  readonly keepsData: string | undefined;
};

/**
 * The removal of a stack by a run that names these ones. Its data stays where one of them was never deployed:
 * the stack may have been renamed to it, and it goes on with the volumes then by their names. What it
 * defines is known when it is deployed, which is after the removal.
 */
export function asRemoval(
  { ledger }: Pick<PipelineParts, "ledger">,
  verdict: RemoveVerdict,
  named: readonly StackKey[],
): Removal {
  const { stack: { key }, removeVolumes } = verdict;
  const deletes = removeVolumes || ledger.current(key)?.swarm !== undefined;
  const fresh = named.filter((each) =>
    deletes && each.context === key.context && ledger.current(each) === undefined
  );
  if (fresh.length === 0) return { ...verdict, keepsData: undefined };
  const names = fewOf(fresh.map(({ name }) => name));
  const are = fresh.length === 1 ? "is" : "are";
  const keepsData =
    `${names} ${are} named now and ${are} not deployed yet, and may go on with it, as ` +
    "after a rename; delete by hand what nothing uses";
  return { ...verdict, keepsData };
}

/** Removes a stack that nothing names any more, and tells what became of its data; as {@link destroyTarget}. */
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
): Promise<TargetEnd | "moved"> {
  const { stack: found, stack: { key }, keepsData, removeVolumes, removeImages } = removal;
  const what = keepsData === undefined
    ? { removeVolumes, removeImages }
    : { removeVolumes: false, keepsStackVolumes: true, removeImages };
  const decided = { by: ownerFrom(run.configuration), found, what, since };
  const data = await destroyTarget(parts, key, decided, signal);
  if (data === "moved") return data;
  if (data !== undefined) {
    const kept = keepsData === undefined ? data.kept : [...data.kept, keptData(keepsData)];
    const message = `removed: ${because}${dataText("deleted", { ...data, kept })}`;
    return { status: "succeeded", message };
  }
  parts.ledger.discovered.remove(key);
  return nothingToDestroy(key);
}
