import {
  DEFAULT_CONTEXT,
  formatStackKey,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import type { Pipeline } from "../pipeline.ts";
import type { Settings } from "../settings/mod.ts";
import { Reconciler, type SharedEvents } from "../trigger/mod.ts";
import type { Assembly } from "./assemble.ts";
import { forEachContext, whenEnded } from "./each_context.ts";
import { createStackOf } from "./stack_of_service.ts";
import type { System } from "./system.ts";

interface Reconciliation {
  /** Works until the signal aborts; begins with `able`, on the default context with `settled`. */
  run(
    signal: AbortSignal,
    when: { readonly able: Promise<void>; readonly settled: Promise<void> },
  ): Promise<void>;
}

/**
 * Makes the reconciliation of stacks between runs. Without `RECOVER_ON_STARTUP` it handles a stack
 * only after a run has dealt with it, which a listener added to `listeners` tells.
 */
export function createReconciliation(
  { deploy }: Pick<Settings, "deploy">,
  { clock, log }: Pick<System, "clock" | "log">,
  { assembly: { ledger }, events, pipeline, listeners }: {
    readonly assembly: Pick<Assembly, "ledger">;
    readonly events: (context: string) => SharedEvents;
    readonly pipeline: Pick<Pipeline, "reconcile" | "strayed">;
    readonly listeners: TargetListener[];
  },
): Reconciliation {
  const seen = new Set<string>();
  if (!deploy.recoverOnStartup) listeners.push(whenEnded((key) => seen.add(formatStackKey(key))));
  const isKnown = (key: StackKey) => deploy.recoverOnStartup || seen.has(formatStackKey(key));
  const reconcilerOf = (context: string) =>
    new Reconciler({
      context,
      events: events(context),
      stackOf: createStackOf(ledger, context),
      optionsOf: (key) => {
        const options = isKnown(key) ? ledger.reconciliations.get(key) : undefined;
        return options?.enabled === true ? options : undefined;
      },
      strayed: async (signal) => (await pipeline.strayed(context, signal)).filter(isKnown),
      reconcile: (key, why, signal) => pipeline.reconcile(key, why, signal),
      clock,
      log,
    });
  return {
    run: (signal, { able, settled }) =>
      forEachContext({ ledger, listeners }, async (each) => {
        await (each === DEFAULT_CONTEXT ? settled : able);
        if (!signal.aborted) await reconcilerOf(each).run(signal);
      }, signal),
  };
}
