import type { ObservedStack, Plan, StackKey } from "../../model/mod.ts";
import { othersRelease, TOOK_PLACE, withOthersRelease } from "../../record/mod.ts";
import type { DecidedRollout, PipelineParts } from "../parts.ts";

type Parts = Pick<PipelineParts, "ledger" | "log" | "options">;

/** The plan for a stack, with words about what another Stackwright deployed; see {@link withOthersRelease}. */
export function tellingOthers(
  { ledger, options: { dataDir } }: Omit<Parts, "log">,
  key: StackKey,
  plan: Plan,
  observed: ObservedStack,
): Plan {
  return withOthersRelease(ledger, plan, { key, observed, dataDir });
}

/**
 * Warns where a release replaces what another Stackwright deployed. Returns the note to record with the
 * release: where that happened after a release of ours, `status` goes on to say so.
 */
export function warnOfOthers(
  { ledger, log, options: { dataDir } }: Parts,
  { next: { release: { key } }, observed, note }: Pick<
    DecidedRollout,
    "next" | "observed" | "note"
  >,
): { readonly note?: string } {
  const others = othersRelease(ledger, { key, observed, dataDir });
  if (others !== undefined) log.warning(others, { stack: key.name, context: key.context });
  if (others === undefined || ledger.current(key) === undefined) return note ? { note } : {};
  return { note: `${note ?? "deployed"}; ${TOOK_PLACE}` };
}
