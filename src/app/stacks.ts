import { type Progress, type StackKey, StackwrightError } from "../model/mod.ts";
import { rollBack, type RollbackResult, shownModel } from "../pipeline/mod.ts";
import type { FailureRecord, Pin, RecordedDecision, RecordedRelease } from "../record/mod.ts";
import type { Assembly } from "./assemble.ts";

/** What is known about why a stack is as it is. */
export interface Explanation {
  readonly current: RecordedRelease | undefined;
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
  readonly failure: FailureRecord | undefined;
  readonly pin: Pin | undefined;
}

/** Why a stack is as it is. Throws `not_found` when nothing was ever decided about it. */
export function explainStack({ ledger }: Assembly, key: StackKey, limit: number): Explanation {
  const decisions = ledger.decisions.of(key, limit);
  const current = ledger.current(key);
  if (decisions.length === 0 && current === undefined) throw unknownStack(key);
  return { current, decisions, failure: ledger.failures.get(key), pin: ledger.pins.get(key) };
}

/** The releases of a stack, newest first. Throws `not_found` when there is none. */
export function stackHistory(
  { ledger }: Assembly,
  key: StackKey,
  limit: number,
): RecordedRelease[] {
  const history = ledger.history(key, limit);
  if (history.length === 0) throw unknownStack(key);
  return history;
}

/** The masked models of two releases of a stack, for a diff. Throws `not_found`. */
export async function releaseModels(
  assembly: Assembly,
  key: StackKey,
  numbers: readonly [number, number],
  signal: AbortSignal,
): Promise<readonly [string, string]> {
  const parts = await assembly.pipelineParts(signal);
  const history = stackHistory(assembly, key, Number.MAX_SAFE_INTEGER);
  const text = (number: number) => {
    const found = history.find((each) => each.number === number);
    if (found === undefined) {
      throw new StackwrightError("not_found", `${key.name} has no release ${number}`);
    }
    return shownModel(parts, parts.ledger.open(found));
  };
  return [text(numbers[0]), text(numbers[1])];
}

/** Puts a stack back to an earlier release and pins it; see the pipeline's `rollBack`. */
export async function rollBackStack(
  assembly: Assembly,
  key: StackKey,
  wanted: { readonly number: number | undefined; readonly progress: Progress },
  signal: AbortSignal,
): Promise<RollbackResult> {
  return await rollBack(await assembly.pipelineParts(signal), key, wanted, signal);
}

/** Lets automatic updates happen again. Returns false when they were not held back. */
export function unpinStack({ ledger }: Assembly, key: StackKey): boolean {
  return ledger.pins.remove(key);
}

function unknownStack(key: StackKey): StackwrightError {
  return new StackwrightError(
    "not_found",
    `nothing is recorded about ${key.name} on context ${key.context}: is the name right, and is DATA_DIR the service's?`,
  );
}
