import type { StackKey, StackOwner } from "../../model/mod.ts";
import type { Ledger } from "../../record/ledger.ts";
import { deployedFrom, isFoundElsewhere } from "../../record/mod.ts";
import { claimOf } from "./claim.ts";
import { takesAll } from "./whose.ts";

type Parts = Pick<Ledger, "owners" | "current" | "history" | "taken" | "discovered">;

/** Who asks for a thing of another stack of the same owner. */
interface Asker {
  readonly owner: StackOwner;
  /** The repository that is deployed. */
  readonly from: string;
  /** Whether the stack that asks was discovered in another repository than the configuration's. */
  readonly isFound: boolean;
}

/**
 * Tells of things of another stack of the same owner, by the repositories that their labels name, whether
 * they have authors of their own: one of the two stacks is, or was, discovered in a repository that is not
 * the configuration's, and the other is from another one. The thing itself (`deployed`, by its label) is
 * asked where the stack's context does not know or that is none of the stack's; a repository that nobody
 * knows is another one. Other contexts of the engine, which may lie, are asked too, and only separate.
 * The ledger is asked once, however many things there are.
 */
export function separately(
  ledger: Parts,
  { owner, from, isFound }: Asker,
  stack: StackKey,
): (deployed: string | undefined) => boolean {
  const beside = ledger.owners.beside(stack).map(({ context }) => ({ ...stack, context }));
  const here = deployedFrom(ledger, stack);
  const known = [stack, ...beside].flatMap((key) => deployedFrom(ledger, key) ?? []);
  const told = wasFound(ledger, stack);
  const isToldBeside = beside.some((key) => wasFound(ledger, key) === true);
  const claim = claimOf(ledger, stack);
  // Of what says nothing itself other contexts tell, where this one has no owner: it would be anybody's.
  const isTold = claim.owner === undefined ? known.length > 0 : here !== undefined;
  // Of its owner, or of any before a hand-over.
  const isStacks = (deployed: string) => takesAll(claim) || claim.sources().has(deployed);
  return (deployed) => {
    const isKnown = deployed === undefined ? isTold : here !== undefined && isStacks(deployed);
    const repositories = isKnown ? known : [...known, deployed];
    if (repositories.every((each) => each === from)) return false;
    const mayBeFound = told ?? repositories.some((each) => each !== owner.source);
    return isFound || isToldBeside || mayBeFound;
  };
}

/** Whether a stack is, or was, discovered elsewhere; `undefined` where nothing tells. */
export function wasFound(ledger: Parts, key: StackKey): boolean | undefined {
  const found = ledger.discovered.get(key);
  if (found !== undefined) return isFoundElsewhere(found);
  const adopted = ledger.owners.get(key)?.adopted === true;
  return ledger.owners.isFound(key) ?? (adopted ? false : undefined);
}
