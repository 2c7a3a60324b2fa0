import {
  askingSource,
  type DiscoveredStack,
  errors,
  formatOwner,
  formerOwner,
  isSameOwner,
  placeOf,
  type SourcePlace,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "./ledger.ts";
import type { OwnerElsewhere, RecordedOwner } from "./owners.ts";

/** The owner of a stack by the ledger, on its engine; older versions recorded none, but their releases name it. */
export function recordedOwner(
  ledger: Pick<Ledger, "owners" | "current">,
  key: StackKey,
): RecordedOwner | undefined {
  const known = ledger.owners.get(key);
  if (known !== undefined) return known;
  const release = ledger.current(key);
  return release && { source: askingSource(release), reference: "", adopted: false };
}

/**
 * The owner of a stack that refuses it to who asks in the name of `owner`: another one, or the one that
 * contests it. `undefined` where the stack is that owner's, or nobody's.
 */
export function otherOwner(
  recorded: (StackOwner & Pick<RecordedOwner, "contested" | "elsewhere">) | undefined,
  owner: StackOwner | undefined,
): (StackOwner & { readonly context?: string | undefined }) | undefined {
  if (recorded === undefined) return undefined;
  return owner !== undefined && isSameOwner(recorded, owner)
    ? recorded.contested
    : { ...recorded, context: recorded.elsewhere };
}

/** The place that the configuration of a stack's release was read from; see {@link placeOf}. */
export function placeOfRelease(
  ledger: Pick<Ledger, "owners" | "current" | "discovered">,
  release: Parameters<typeof placeOf>[0] & { readonly key: StackKey },
): SourcePlace {
  const { key } = release;
  return placeOf(release, ledger.discovered.get(key)?.owner ?? recordedOwner(ledger, key));
}

/** The parts of the ledger that tell whose a stack is, and what it is deployed from. */
export type OwnersOfLedger = Pick<Ledger, "owners" | "current" | "history" | "discovered">;

/** A release whose stack may be another's by now. */
export type Judged = Pick<RecordedRelease, "key" | "configuration" | "revision" | "owner">;

/** The repository that a stack is, or was last, deployed from, as far as that is known. */
export function deployedFrom(ledger: OwnersOfLedger, key: StackKey): string | undefined {
  // While a stack has an owner its volumes may be there, also after it was destroyed.
  const last = () => ledger.owners.get(key) && ledger.history(key, 1)[0];
  const release = ledger.current(key) ?? last();
  return release?.revision.source.name ?? ledger.owners.lastRepository(key) ??
    ledger.discovered.get(key)?.repository;
}

/** Whether a stack was discovered in another repository than the one with its configuration. */
export function isFoundElsewhere(found: DiscoveredStack | undefined): found is DiscoveredStack {
  return found?.policy !== undefined && found.repository !== found.owner.source;
}

/**
 * Refuses a stack that was discovered in another repository than the configuration's, and has the name
 * of one that is deployed from a third, by whichever context of its engine: who may add directories
 * there is not who may write the configuration, to which both stacks belong. Needs the stack's lock.
 *
 * Throws `conflict`.
 */
export function requireFreeName(ledger: OwnersOfLedger, found: DiscoveredStack | undefined): void {
  const text = isFoundElsewhere(found)
    ? whyNotFree(ledger, found, [found.key.context, ...contextsBeside(ledger, found.key)])
    : undefined;
  if (text !== undefined) throw errors.conflict(`conflict: ${text}`);
}

function contextsBeside({ owners }: OwnersOfLedger, key: StackKey): string[] {
  return owners.beside(key).map(({ context }) => context);
}

/** Words for what other repository has the name of a discovered stack by one of `contexts`. */
function whyNotFree(ledger: OwnersOfLedger, found: DiscoveredStack, contexts: readonly string[]) {
  const takenBy = (context: string) => {
    const from = deployedFrom(ledger, { ...found.key, context });
    return from === undefined || from === found.repository ? [] : [{ from, context }];
  };
  const [taken] = contexts.flatMap(takenBy);
  return taken && notFree(found, taken);
}

/** Words for a discovered stack whose name another repository has by a context. */
export function notFree(
  { key, repository, directory, owner }: DiscoveredStack,
  { from, context }: { readonly from: string; readonly context: string },
): string {
  const where = context === key.context ? "" : ` by context ${context}`;
  return `${key.name} is deployed from ${from}${where}, so it was not deployed from ${directory} of ` +
    `${repository}, where it was discovered; choose another name there, or write the stack down ` +
    `in the configuration of ${owner.source}`;
}

/**
 * The owner of a stack by another context of its engine, where this one's `release` of it, or the lack
 * of one, is not its owner's: it was handed over, and is deployed by that context.
 */
export function ownerBeside(
  ledger: Pick<Ledger, "owners" | "current">,
  key: StackKey,
  release: Judged | undefined,
): OwnerElsewhere | undefined {
  const owner = ledger.owners.get(key);
  if (owner === undefined) return undefined;
  const isOwners = (each: Judged | undefined) =>
    each !== undefined && formerOwner(each, owner) === undefined;
  if (owner.contested !== undefined || isOwners(release)) return owner.contested;
  if (owner.elsewhere !== undefined) return { ...owner, context: owner.elsewhere };
  return ledger.owners.beside(key)
    .find(({ context }) => isOwners(ledger.current({ ...key, context })));
}

/**
 * Why a recorded release of a stack is not brought back, nor anything of it started: by another context
 * of its engine, the stack has another owner, or is deployed from elsewhere. Else `undefined`.
 */
export function takenByOther(ledger: OwnersOfLedger, release: Judged): string | undefined {
  const { key } = release;
  const whose = ownerBeside(ledger, key, release);
  if (whose !== undefined) {
    return `${key.name} belongs to ${formatOwner(whose)} by context ${whose.context}, which ` +
      `leads to the engine of context ${key.context}; what context ${key.context} deployed is not brought back`;
  }
  const found = ledger.discovered.get(key);
  return isFoundElsewhere(found)
    ? whyNotFree(ledger, found, contextsBeside(ledger, key))
    : undefined;
}
