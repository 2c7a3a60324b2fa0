import { readMark } from "../../deploy/mod.ts";
import {
  errors,
  formatAdoption,
  formatOwner,
  type ObservedContainer,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { otherOwner } from "../../record/mod.ts";
import { type Claim, whose } from "../owner/whose.ts";

/** A stack, and what tells whose it is. */
export interface Owned {
  /** The stack's containers and services. */
  readonly parts: readonly Pick<ObservedContainer, "name" | "labels">[];
  readonly claim: Claim;
  /** Whether what the first deployment would take over will do, too; else only what is the stack's own. */
  readonly takes: boolean;
}

/**
 * Refuses an action (`wanted`, such as `destroyed`) unless all of a stack is its own, or to be taken
 * over, and `wants` owns it by its configuration: anybody may name a repository to deploy from.
 *
 * Throws `conflict`.
 */
export function requireOwner(
  key: StackKey,
  wants: StackOwner,
  { parts, claim, takes }: Owned,
  wanted: string,
): void {
  const refuse = (who: string, advice = "") =>
    errors.conflict(`${key.name} is not ${wanted}: ${who}, not to ${formatOwner(wants)}${advice}`);
  const { owner } = claim;
  const other = otherOwner(owner, wants);
  if (other !== undefined) {
    const by = other.context === undefined ? "" : ` by context ${other.context}`;
    throw refuse(`it belongs to ${formatOwner(other)}${by}`);
  }
  for (const { name, labels } of parts) {
    const mark = readMark(labels);
    const judged = whose(mark, claim);
    if (judged.kind === "own" || (takes && judged.kind === "taken")) continue;
    const source = judged.kind === "anothers"
      ? judged.source
      : mark.deployed ?? "nobody Stackwright knows";
    const adopt = claim.hasDeployed() ? "" : `, or hand all over: ${formatAdoption(key, wants)}`;
    const advice = takes ? `; remove it by hand${adopt}` : "";
    throw refuse(`its container ${name} belongs to ${source}`, advice);
  }
}
