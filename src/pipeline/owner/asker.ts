import { type OwnerFacts, readMark } from "../../deploy/mod.ts";
import {
  askingSource,
  type DiscoveredStack,
  type Release,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { isFoundElsewhere, recordedOwner } from "../../record/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { ownersElsewhere } from "../owner_elsewhere.ts";
import { claimOf, namesDefinedIn } from "./claim.ts";
import { separately, wasFound } from "./separate.ts";
import { whose } from "./whose.ts";

/** A release about whose things is asked; a target says its owner and how it was found itself. */
export interface AskingRelease extends Pick<Release, "key" | "configuration" | "revision"> {
  readonly owner?: StackOwner | undefined;
  readonly discovered?: DiscoveredStack | undefined;
}

/** The owner in whose name a release asks, by default its stack's or its own source, and what it may know of others. */
export function askerOf(
  parts: Parameters<typeof ownersElsewhere>[0],
  { key, owner, discovered, ...of }: AskingRelease,
  signal: AbortSignal,
): { readonly claimant: StackOwner; readonly facts: OwnerFacts } {
  const { ledger } = parts;
  const claimant = owner ?? recordedOwner(ledger, key) ??
    { source: askingSource(of), reference: "" };
  const from = of.revision.source.name;
  // A target says itself how it was found; of a release that comes back, the ledger does.
  const isFound = isFoundElsewhere(discovered) || (!owner && wasFound(ledger, key) === true);
  // Authors of repositories in which stacks are discovered are not the configuration's.
  const asker = { owner: claimant, from, isFound };
  const separate = new Map<string, ReturnType<typeof separately>>();
  const separateOf = (name: string) => separately(ledger, asker, { ...key, name });
  const facts: OwnerFacts = {
    ownersOf: ownersIn(parts, key, signal),
    isSeparate: (name, deployed) => separate.getOrInsertComputed(name, separateOf)(deployed),
    definedBy: namesDefinedIn(ledger, key),
  };
  return { claimant, facts };
}

/** A finder of the owners of a context's stacks, each of which is looked for once. */
function ownersIn(
  parts: Parameters<typeof ownersElsewhere>[0],
  { context }: StackKey,
  signal: AbortSignal,
): OwnerFacts["ownersOf"] {
  const pauses = createPauses(1);
  const find: OwnerFacts["ownersOf"] = async (name) => {
    const stack = { context, name };
    await pauses.after(1);
    const here = recordedOwner(parts.ledger, stack);
    if (here === undefined) {
      const beside = await ownersElsewhere(parts, { key: stack, isThere: true }, signal);
      return { here, elsewhere: beside.map(({ owner }) => owner) };
    }
    const claim = claimOf(parts.ledger, stack);
    const madeFor = (labels: Readonly<Record<string, string>>) => {
      const judged = whose(readMark(labels), claim);
      return judged.kind === "anothers" ? judged.source : undefined;
    };
    return { here, elsewhere: [], contested: here.contested, madeFor };
  };
  const found = new Map<string, ReturnType<typeof find>>();
  return (name) => found.getOrInsertComputed(name, find);
}
