import { type Destroy, type Kind, type Mark, readMark } from "../../deploy/mod.ts";
import { isOurs, LABELS, type StackOwner } from "../../model/mod.ts";
import type { RecordedOwner } from "../../record/owners.ts";
import { surelySameRepository } from "../../source/mod.ts";

/** Rights to a stack: who asks for it, and what tells that things of its name are the asker's. */
export interface Claim {
  /** The owner in whose name it is asked for. */
  readonly owner: (StackOwner & Pick<RecordedOwner, "contested">) | undefined;
  /** Other addresses of the owner's source, which another manager may have noted. */
  readonly addresses?: () => readonly string[];
  /** Whether a person handed the stack over: then labels of the time before do not count. */
  readonly isAdopted: boolean;
  /** Whether the ledger does not know yet which sources the labels of that time name. */
  readonly isUncleared?: boolean;
  /** The repository in which the stack was discovered, where that is not the configuration's. */
  readonly repository?: string | undefined;
  /** Sources of the configurations whose things went with a hand-over, by their labels. */
  readonly configurations: () => ReadonlySet<string>;
  /** Sources that the owner's own releases were deployed from, and those that went with a hand-over. */
  readonly sources: () => ReadonlySet<string>;
  /** Whether one of the owner's releases ran: what is nobody's after that is not taken over. */
  readonly hasDeployed: () => boolean;
  /** Whether a release mounted a volume of that name that was there before the stack. */
  readonly tookOver: (volume: string) => boolean;
}

/** A thing under a stack's name. */
export interface ThingOfStack {
  readonly kind: Kind;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Whose a thing is: the stack's `own`; `taken` over by its first deployment, without being made by
 * Stackwright; `nobodys`, which a deployment replaces and a destroy leaves; or `anothers`.
 */
export type Whose =
  | { readonly kind: "own" | "taken" | "nobodys" }
  | {
    readonly kind: "anothers";
    readonly source: string;
    /** Whether the asker's configuration may have made it, for another repository. */
    readonly isRepository: boolean;
  };

/** Whether all that Stackwright made under a stack's name goes with it: its new owner has not deployed it yet. */
export function takesAll(
  { isAdopted, isUncleared = false, hasDeployed }: Pick<
    Claim,
    "isAdopted" | "isUncleared" | "hasDeployed"
  >,
): boolean {
  return isAdopted && (isUncleared || !hasDeployed());
}

/**
 * Judges a thing that has a stack's name by what it says of itself; of a volume, `volume` is the name.
 *
 * Labels name the configuration's source, which decides: anybody may deploy from a repository, which
 * gives no right to its stacks. Volumes, and containers of older versions, name the deployed
 * repository alone; that is compared with what the owner deployed from.
 */
export function whose(mark: Mark, claim: Claim, volume?: string): Whose {
  const { owner, isAdopted, repository } = claim;
  const { maker, configuration, deployed = "" } = mark;
  const source = configuration ?? deployed;
  const from = { kind: "anothers", source: source || "another source" } as const;
  if (maker === "stackwright") {
    // Also after a hand-over, which is one to the configuration.
    if (repository !== undefined && deployed !== repository) {
      return { ...from, source: deployed || from.source, isRepository: true };
    }
    // Labels of the time before a hand-over stay on what was not made anew since.
    const isNamed = () =>
      configuration === undefined
        ? claim.sources().has(deployed)
        : claim.configurations().has(configuration);
    const isOwn = owner !== undefined &&
      (source === owner.source || takesAll(claim) || isNamed());
    return isOwn ? { kind: "own" } : { ...from, isRepository: false };
  }
  const isPeers = maker === "doco-cd";
  const isOwners = isPeers && owner !== undefined &&
    [owner.source, ...claim.addresses?.() ?? []].some((each) =>
      surelySameRepository(deployed, each)
    );
  if (isOwners || (isAdopted && !claim.hasDeployed())) return { kind: "taken" };
  const isHandedOver = takesAll(claim) || (isAdopted && claim.sources().has(deployed));
  if (isPeers && !isHandedOver) return { ...from, isRepository: false };
  const isTaken = volume !== undefined && claim.tookOver(volume);
  return { kind: isTaken ? "taken" : "nobodys" };
}

/** Why a destroy leaves a volume, to follow the volume's name; `undefined` where it goes. */
export function whyKept(judged: Whose): string | undefined {
  if (judged.kind === "anothers") return `it was made for ${judged.source}`;
  return judged.kind === "nobodys"
    ? "another manager made it: Stackwright neither did, nor took it over"
    : undefined;
}

/**
 * Judges a thing of some kind that has a stack's name, as {@link whose} does. Secrets and configs that
 * an older version made name no source, and are the stack's.
 */
export function whoseThing({ kind, name, labels }: ThingOfStack, claim: Claim): Whose {
  const isUnnamed = (kind === "secret" || kind === "config") && isOurs({ labels }) &&
    labels[LABELS.sourceConfiguration] === undefined;
  return isUnnamed
    ? { kind: "own" }
    : whose(readMark(labels), claim, kind === "volume" ? name : undefined);
}

/**
 * As {@link whyKept}, of anything with a stack's name: what is nobody's goes, unless it may be data. Of what
 * is the stack's, `byName` tells why it stays all the same.
 */
export function keeping(
  claim: Claim,
  byName: NonNullable<Destroy["whyKept"]> = () => undefined,
): NonNullable<Destroy["whyKept"]> {
  return (thing, kind) => {
    const judged = whoseThing({ ...thing, kind }, claim);
    const why = kind !== "volume" && judged.kind === "nobodys" ? undefined : whyKept(judged);
    return why ?? byName(thing, kind);
  };
}
