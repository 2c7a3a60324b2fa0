import {
  errors,
  formatStackArguments,
  formerOwner,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import type { Ledger } from "./ledger.ts";
import { recordedOwner } from "./recorded_owner.ts";

/** The parts of the ledger that tell by which context of its engine a stack is deployed. */
export type DeploymentsOfLedger = Pick<
  Ledger,
  "owners" | "current" | "releasesUnderWay" | "lastBegun"
>;

/**
 * The other context of a stack's engine, or of its swarm, that deploys it for `asker`, by default its owner. One
 * context of an engine does: two would change the same containers, each to its own release, and what a person
 * wants by one the other would pass over. It is the one with a release of the stack, good or being deployed; where several have one,
 * since engines came to be one, that of the release which was begun last. `undefined` where there is none, or it
 * is the stack's own.
 *
 * Engines may report an id that is not theirs, and copies of a machine have the same: it only ever refuses.
 */
export function deployedBy(
  ledger: DeploymentsOfLedger,
  key: StackKey,
  asker?: StackOwner,
): string | undefined {
  const beside = ledger.owners.contextsBeside(key);
  if (beside.length === 0) return undefined;
  const owner = asker ?? recordedOwner(ledger, key);
  const going = ledger.releasesUnderWay();
  const releases = [key.context, ...beside].flatMap((context) => {
    const isThere = (each: StackKey) => each.context === context && each.name === key.name;
    const release = ledger.current({ ...key, context }) ?? going.find((each) => isThere(each.key));
    return release === undefined || formerOwner(release, owner) !== undefined ? [] : [release];
  });
  const last = ledger.lastBegun(releases.map(({ id }) => id));
  const leads = releases.find(({ id }) => id === last)?.key.context;
  return leads === key.context ? undefined : leads;
}

/** Why a stack is neither deployed, brought back, resumed, put back nor removed by its context; see {@link deployedBy}. */
export function whyElsewhere(
  ledger: DeploymentsOfLedger,
  key: StackKey,
  owner?: StackOwner,
): string | undefined {
  const context = deployedBy(ledger, key, owner);
  if (context === undefined) return undefined;
  const forget = `stackwright forget ${formatStackArguments({ ...key, context })}`;
  return `${key.name} is deployed by context ${context}, which leads to the engine of context ` +
    `${key.context}, and one context of an engine deploys a stack: write that one as its context, or ` +
    `have context ${key.context} take it over (${forget}); if these are two engines, give one of them ` +
    "an id of its own";
}

/** Refuses what {@link whyElsewhere} tells of; `done` is what was asked for, such as `removed`. Throws `conflict`. */
export function requireDeployedHere(
  ledger: DeploymentsOfLedger,
  key: StackKey,
  done: string,
  owner?: StackOwner,
): void {
  const why = whyElsewhere(ledger, key, owner);
  if (why !== undefined) throw errors.conflict(`${key.name} is not ${done}: ${why}`);
}
