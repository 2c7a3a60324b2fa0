import { dataText } from "../../deploy/mod.ts";
import { formatStackKey, type StackKey, type TargetEnd } from "../../model/mod.ts";
import type { Goes, ObsoleteFacts, RemovalFacts, RemovedBeside } from "../../plan/mod.ts";
import { destroyTarget, nothingToDestroy } from "../destroy_target.ts";
import type { PipelineParts } from "../parts.ts";

/** What decides what goes with a stack, where a run removes it that wants these ones, and asks for that to go. */
export function removalFacts(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
  { removeVolumes, removeImages, wanted, complete }: RemovedBeside & {
    readonly wanted: readonly StackKey[];
    readonly complete: boolean;
  },
): RemovalFacts & { readonly unnamed?: undefined } {
  const isStack = ledger.current(key)?.swarm !== undefined;
  const successors = ledger.owners.near(key, wanted)
    .map((each) => ({ key: each, isNew: isNew({ ledger }, each) }));
  return { removeVolumes, removeImages, isStack, successors, complete };
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
  removals: readonly ObsoleteFacts[],
  destroyed: readonly StackKey[],
): ReadonlySet<string> {
  const first = removals.filter(({ unnamed }) => unnamed.movedTo === undefined)
    .map(({ unnamed }) => unnamed.stack.key);
  return new Set([...first, ...destroyed].map(formatStackKey));
}

/**
 * Carries out the verdict that a stack goes, and tells what became of its data; as {@link destroyTarget}. Returns
 * `data_left` where that is decided about again.
 */
export async function removeStack(
  parts: PipelineParts,
  key: StackKey,
  { verdict: { now, again, stays }, done, ...decided }:
    & { readonly verdict: Goes; readonly done: string }
    & Omit<Parameters<typeof destroyTarget>[2], "what">,
  signal: AbortSignal,
): Promise<TargetEnd | "moved" | "data_left"> {
  const { ledger, ledger: { discovered } } = parts;
  // Removed before, but for its data, and not come back since.
  if (again && discovered.isLeft(key) && ledger.current(key) === undefined) return "data_left";
  const data = await destroyTarget(parts, key, { ...decided, what: now }, signal);
  if (data === "moved") return data;
  if (data === undefined) {
    if (decided.isUnnamed) discovered.remove(key);
    return nothingToDestroy(key);
  }
  if (again) return "data_left";
  const told = { ...data, kept: [...data.kept, ...stays] };
  return { status: "succeeded", message: `${done}${dataText("deleted", told)}` };
}
