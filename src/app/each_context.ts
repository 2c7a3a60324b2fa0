import { DEFAULT_CONTEXT, type StackKey, type TargetListener } from "../model/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { abortableWait } from "../system/mod.ts";

/** The contexts with deployed stacks, and the default one. */
export function contextsOf(ledger: Pick<Ledger, "contexts">): ReadonlySet<string> {
  return new Set([DEFAULT_CONTEXT, ...ledger.contexts()]);
}

/** Makes a listener that calls `hear` with every stack whose target ended. */
export function whenEnded(hear: (key: StackKey) => void): TargetListener {
  return ({ key }) => ({ kind }) => void (kind === "ended" && hear(key));
}

/**
 * Runs `work` for the default context, and for every other context once it has a deployed stack,
 * until the signal aborts. Adds a listener to `listeners` that detects such contexts. `work` never
 * rejects. Call it before anything is deployed: a run tells only those who listened when it began.
 */
export async function forEachContext(
  { ledger, listeners }: {
    readonly ledger: Pick<Ledger, "contexts" | "current">;
    readonly listeners: TargetListener[];
  },
  work: (context: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const begun = new Map<string, Promise<void>>();
  const begin = (context: string) => {
    if (!begun.has(context) && !signal.aborted) begun.set(context, work(context));
  };
  contextsOf(ledger).forEach(begin);
  listeners.push(whenEnded((key) => {
    if (!begun.has(key.context) && ledger.current(key) !== undefined) begin(key.context);
  }));
  await abortableWait(() => () => {}, signal).catch(() => {});
  await Promise.all(begun.values());
}
