import { once } from "../../system/mod.ts";
import { fitsTemplate, resourcesOf, stacksIn } from "../../compose/mod.ts";
import { readMark } from "../../deploy/mod.ts";
import {
  askingSource,
  type DiscoveredStack,
  formerOwner,
  type ObservedContainer,
  type Release,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import type { Ledger, RecordedRelease } from "../../record/ledger.ts";
import { isFoundElsewhere, recordedOwner } from "../../record/mod.ts";
import type { RecordedOwner } from "../../record/owners.ts";
import { type Claim, takesAll, whose } from "./whose.ts";

/** Releases to look through for what they took over; the ledger keeps about as many. */
const MOST_RELEASES = 200;

interface Asker {
  /** The owner, where the ledger records none. */
  readonly by?: StackOwner | undefined;
  /** The stack, where it was discovered. */
  readonly found?: DiscoveredStack | undefined;
  /** See {@link PipelineOptions.reachedAs}. */
  readonly reachedAs?: ((source: string) => readonly string[]) | undefined;
  /** The owner by the ledger, where that was just asked. */
  readonly recorded?: RecordedOwner | undefined;
}

/** The claim to a stack by the ledger. Reads releases when a thing asks for them, once for all. */
export function claimOf(
  ledger: Pick<Ledger, "owners" | "current" | "history" | "taken">,
  key: StackKey,
  { by, found, reachedAs = () => [], recorded = recordedOwner(ledger, key) }: Asker = {},
): Claim {
  const owner = recorded ?? by;
  const isAdopted = recorded?.adopted === true;
  const all = once(() => ledger.history(key, MOST_RELEASES));
  const own = once(() => all().filter((each) => formerOwner(each, owner) === undefined));
  const those = once(() => isAdopted ? all() : own());
  const taken = once(() => ledger.taken(those()));
  // Of what is written only a swarm makes other names, and of few: any number is what others may write.
  const templates = once(() => {
    const ofSwarm = those().filter(({ swarm }) => swarm !== undefined);
    return [...ledger.taken(ofSwarm)].filter((name) => name.includes("{{"));
  });
  return {
    owner,
    addresses: once(() => owner === undefined ? [] : reachedAs(owner.source)),
    isAdopted,
    isUncleared: isAdopted && ledger.owners.toClear(key) > 0,
    repository: isFoundElsewhere(found) ? found.repository : undefined,
    configurations: once(() => new Set(ledger.owners.configurations(key))),
    sources: once(() =>
      new Set([
        ...ledger.owners.repositories(key),
        ...own().flatMap((each) => [each.revision.source.name, askingSource(each)]),
      ])
    ),
    // A first release that failed put back what was there before it.
    hasDeployed: once(() => own().some(({ status }) => status === "deployed")),
    tookOver: (volume) =>
      taken().has(volume) || templates().some((name) => fitsTemplate(name, volume)),
  };
}

/**
 * The sources of configurations whose things a stack has, beside its owner's, by a hand-over; `undefined`
 * while it has all that was made for its name.
 */
export function handedOverWith(
  ledger: Parameters<typeof claimOf>[0],
  key: StackKey,
): ReadonlySet<string> | undefined {
  const claim = claimOf(ledger, key);
  return takesAll(claim) ? undefined : claim.configurations();
}

/** A claim to volumes that knows, by the stack's own containers there, what it was deployed from. */
export function withSeen(
  claim: Claim,
  containers: readonly Pick<ObservedContainer, "labels">[],
): Claim {
  const own = containers.map(({ labels }) => readMark(labels))
    .filter((mark) => whose(mark, claim).kind === "own");
  const seen = own.flatMap(({ deployed }) => deployed ?? []);
  return seen.length === 0
    ? claim
    : { ...claim, sources: once(() => new Set([...claim.sources(), ...seen])) };
}

/** A release with its model; `undefined` where it cannot be opened any more. */
export function openedOf(
  ledger: Pick<Ledger, "open">,
  release: RecordedRelease,
): Release | undefined {
  try {
    return ledger.open(release);
  } catch {
    return undefined;
  }
}

/**
 * Makes a finder of the networks or volumes of its own that the current release of a stack defines, by the names
 * that compose gives; those of all contexts of an engine. Each stack is looked for once. What no active service uses
 * counts where no stack with a longer name is recorded, whose it would be, too: nothing of it has to be there.
 */
export function namesDefinedIn(
  ledger: Pick<Ledger, "current" | "open" | "owners">,
  { context: here }: Pick<StackKey, "context">,
): (kind: "networks" | "volumes", stack: string) => ReadonlySet<string> {
  const find = (kind: "networks" | "volumes", name: string) => {
    const contexts = [here, ...ledger.owners.contextsBeside({ context: here, name })];
    const isRecorded = (stack: string) =>
      contexts.some((context) => ledger.current({ context, name: stack }) !== undefined);
    const isFree = (given: string) =>
      !stacksIn(given, "_").some((stack) => stack.startsWith(`${name}_`) && isRecorded(stack));
    const own = contexts.flatMap((context) => {
      const current = ledger.current({ context, name });
      const release = current && openedOf(ledger, current);
      if (release === undefined) return [];
      const unused = resourcesOf(release.unused ?? {}, kind).filter((each) => isFree(each.name));
      return [...resourcesOf(release.model, kind), ...unused].filter(({ external }) => !external);
    });
    return new Set(own.map((each) => each.name).filter((each) => each.startsWith(`${name}_`)));
  };
  const found = new Map<string, ReadonlySet<string>>();
  return (kind, stack) => found.getOrInsertComputed(`${kind} ${stack}`, () => find(kind, stack));
}
