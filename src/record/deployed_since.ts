import { errors, formatStackArguments, formerOwner, type StackKey } from "../model/mod.ts";
import type { Ledger } from "./ledger.ts";
import { recordedOwner } from "./recorded_owner.ts";

/** The parts of the ledger that tell by which context of its engine a stack was deployed last. */
export type DeploymentsOfLedger = Pick<Ledger, "owners" | "current" | "history" | "decisions">;

/** Newest releases among which the last good one is looked for. */
const MOST_LOOKED_AT = 20;

/**
 * The context by which a stack's owner has deployed it later than by its own, where both lead to one engine, or
 * managers of one swarm: `context` in its configuration has changed, and two contexts would change the same
 * containers, each to its own release. A later look that found the stack named by its own context ends that.
 * What is under way counts, and what was removed since, so that an older release does not come back.
 * `undefined` where there is none.
 *
 * Engines may report an id that is not theirs, and copies of a machine have the same: it only ever refuses.
 */
export function deployedSinceBy(ledger: DeploymentsOfLedger, key: StackKey): string | undefined {
  const contexts = ledger.owners.contextsBeside(key);
  const [newest] = contexts.length === 0 ? [] : ledger.history(key, 1);
  if (newest === undefined) return undefined;
  const owner = recordedOwner(ledger, key);
  return contexts.find((context) => {
    const there = { ...key, context };
    const last = ledger.history(there, MOST_LOOKED_AT).find((each) =>
      (each.status === "deployed" || each.status === "applying") &&
      formerOwner(each, owner) === undefined
    );
    if (last === undefined) return false;
    const looked = ledger.decisions.lastLook(key);
    // Where both contexts are named, neither is more so by a look that changed nothing.
    const named = looked.isUnnamed ? ledger.decisions.lastLook(there).namedAt : 0;
    const own = Math.max(newest.createdAt.getTime(), looked.namedAt);
    return Math.max(last.createdAt.getTime(), named) > own;
  });
}

/**
 * Why what a context has deployed of a stack is neither brought back, resumed, put back nor removed by it:
 * another one of its engine has deployed the stack since. `undefined` where none has.
 */
export function whyElsewhere(ledger: DeploymentsOfLedger, key: StackKey): string | undefined {
  const context = deployedSinceBy(ledger, key);
  if (context === undefined) return undefined;
  const forget = `stackwright forget ${formatStackArguments(key)}`;
  return `${key.name} was deployed by context ${context} since, which leads to the engine of context ` +
    `${key.context}, and is that one's to repair and to remove; have what context ${key.context} ` +
    `deployed forgotten (${forget}), or, if these are two engines, give one of them an id of its own`;
}

/** Refuses what {@link whyElsewhere} tells of; `done` is what was asked for, such as `removed`. Throws `conflict`. */
export function requireDeployedHere(
  ledger: DeploymentsOfLedger,
  key: StackKey,
  done: string,
): void {
  const why = whyElsewhere(ledger, key);
  if (why !== undefined) throw errors.conflict(`${key.name} is not ${done}: ${why}`);
}
