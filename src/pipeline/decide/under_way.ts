import { formatStackKey, type StackKey } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** A change of a stack that a plan finds begun: what runs is half of it. */
export interface BegunChange {
  /** What is under way, or was interrupted. */
  readonly what: string;
  /** What is compared with what, and what decides after it. */
  readonly meaning: string;
}

/** The change of a stack that is under way, or was interrupted; `undefined` without one. */
export function begunChange(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
): BegunChange | undefined {
  const name = formatStackKey(key);
  const intent = ledger.underWay().find((each) => formatStackKey(each.key) === name);
  if (intent === undefined) return undefined;
  const isCutOff = ledger.isCutOff(key);
  const { releaseId = "", kind } = intent;
  const next = ledger.release(releaseId)?.number;
  const release = next === undefined ? "" : ` of release ${next}`;
  const change = kind === "destroy" ? "a removal" : `a deployment${release}`;
  const what = isCutOff
    ? `${change} was interrupted, and is finished first`
    : `${change} is under way`;
  const current = ledger.current(key)?.number;
  const before = current === undefined || current === next ? "" : `release ${current}`;
  const shown = `services are compared with what runs by now, the diff with ${before || "nothing"}`;
  const after = next === undefined
    ? "what comes next is decided when it has ended"
    : `what comes next is decided when it has ended: against release ${next}` +
      (before === "" ? "" : `, or ${before} where it fails`);
  return { what, meaning: `${shown}; ${after}` };
}
