import { type DiscoveredStack, fewOf, type StackKey } from "../model/mod.ts";
import type { UnnamedStack } from "./obsolete.ts";

/** A stack that a run wants, and that may be on the engine of one that goes. */
export interface Successor {
  readonly key: StackKey;
  /** Whether it was never deployed before the run: the one that goes may have been renamed to it. */
  readonly isNew: boolean;
  /** Whether it is deployed as the run wants it; absent before its turn. */
  readonly isDeployed?: boolean;
}

/** What a removal deletes besides containers and networks. */
export interface RemovedBeside {
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
}

/** Facts about a stack that nothing names any more; what is absent was not asked, or is not so. */
export interface Unnamed extends UnnamedStack {
  /** Whether the run sees a part only of what its repository wants: other polls may go on with the data. */
  readonly isPart: boolean;
  /** That a person holds it, in words. */
  readonly held?: string | undefined;
  /** That another context names it, which is not to have it yet, in words. */
  readonly elsewhere?: string | undefined;
  /** The stack of its name by another engine's context, after which it goes, where that is deployed. */
  readonly movedTo?: Omit<Successor, "isNew"> | undefined;
  /** What its repository still has of it, in words. */
  readonly there?: string | undefined;
  /** Who else has it, or may have it, in words. */
  readonly others?: string | undefined;
  /** That it is one of very many that would go at once, in words. */
  readonly mass?: string | undefined;
}

/** Facts, as of one moment of a run, by which {@link decideRemoval} decides what becomes of a stack that is to go. */
export interface RemovalFacts extends RemovedBeside {
  /** Set where it goes since nothing names it any more, absent where it is named, with `destroy`. */
  readonly unnamed?: Unnamed;
  /** Whether it is a stack of a swarm, whose volumes go in any case. */
  readonly isStack: boolean;
  readonly successors: readonly Successor[];
  /** Whether all that its configuration names could be read. */
  readonly complete: boolean;
  /** What came while its data waited, as that the run ended. */
  readonly meanwhile?: string;
  /** Whether its data waits no more: it came back meanwhile, or a person removed it. */
  readonly isOver?: boolean;
}

/** A stack that nothing names any more, and that may be removed. */
export type ObsoleteFacts = RemovalFacts & { readonly unnamed: Unnamed };

/** The verdict that a stack stays, with its data. */
export interface Stays {
  /** `hold` where what the facts say is waited for, as a person. */
  readonly kind: "keep" | "hold";
  readonly because: string;
  /** False where an unreadable configuration, or a newer commit, may still name it. */
  readonly isSure: boolean;
  /** Whether another context names it. */
  readonly isNamed?: true;
}

/** The verdict that a stack goes, with what goes besides its containers and networks. */
export interface Goes {
  readonly kind: "remove";
  readonly now: RemovedBeside;
  /** What goes once its data was decided about again, as far as that is known. */
  readonly later: RemovedBeside;
  /** Whether it is: after the turns of the stacks in `after`, or where these are over by another attempt. */
  readonly again: boolean;
  readonly after: readonly StackKey[];
  /** Why what would go stays, named. */
  readonly stays: readonly string[];
}

const NOTHING: RemovedBeside = { removeVolumes: false, removeImages: false };

/**
 * Decides, purely, what becomes of a stack that is to go. Asked with what is known without asking anybody, again with
 * what others say, when its turn comes, and when the other stacks of the run had theirs.
 *
 * Of one that nothing names any more the policy is that of the configurations whose directories cover it, and all of
 * them must permit the removal. Without any it stays: who ends a discovery, or has it look elsewhere, has not said
 * that what it found is to go, nor with what. So does who has its directory become a link, or its compose file have
 * another name.
 *
 * No data goes, and no images, that a stack which the run wants may need: one that is not deployed as it wants it says
 * by no release what it goes on with, nor does one whose turn has not come, nor one that cannot be read. Data of what
 * nothing names stays for good where a new one may be what it was renamed to; where `destroy` asks for it, it goes by a
 * later attempt.
 */
export function decideRemoval(facts: RemovalFacts & { readonly unnamed?: undefined }): Goes;
export function decideRemoval(facts: RemovalFacts): Stays | Goes;
export function decideRemoval(facts: RemovalFacts): Stays | Goes {
  const goes = whatGoes(facts);
  return facts.unnamed === undefined ? goes : whyStays(facts.unnamed, facts, goes) ?? goes;
}

/** The facts when the other stacks of a run had their turn. */
export function afterTurns<T extends RemovalFacts>(
  facts: T,
  isDeployed: (key: StackKey) => boolean,
): T {
  const ended = <K extends { readonly key: StackKey }>(each: K) => ({
    ...each,
    isDeployed: isDeployed(each.key),
  });
  const { unnamed, successors } = facts;
  const moved = unnamed?.movedTo && { unnamed: { ...unnamed, movedTo: ended(unnamed.movedTo) } };
  return { ...facts, successors: successors.map(ended), ...moved };
}

/** Words for when a stack or its data goes by a verdict, to append to a sentence, where others have their turn first. */
export function whenRemoved(facts: RemovalFacts, verdict: Goes): string {
  const { movedTo } = facts.unnamed ?? {};
  const moved = movedTo === undefined
    ? ""
    : `; once context ${movedTo.key.context} has deployed it as this commit has it`;
  const isLast = whatGoes(facts).after.length > 0 && deletesVolumes(verdict);
  return moved + (isLast ? "; its data goes last, where no other stack goes on with it" : "");
}

/** Whether a stack's volumes and what it wrote to relative mounts go, now or later. */
export function deletesVolumes({ now, later }: Goes): boolean {
  return now.removeVolumes || later.removeVolumes;
}

function whyStays(
  unnamed: Unnamed,
  { complete }: RemovalFacts,
  goes: Goes,
): Stays | undefined {
  const { stack, newer, there, held, elsewhere, movedTo, others, mass } = unnamed;
  const kept = whyKept(unnamed, complete);
  const isSure = newer === false && (complete || stack.policy === undefined);
  if (elsewhere !== undefined) return { kind: "keep", because: elsewhere, isSure, isNamed: true };
  if (kept !== undefined) return { kind: "keep", because: kept, isSure };
  if (there !== undefined) {
    const because = `${there}: remove that, too, if it is to go`;
    return { kind: "keep", because, isSure };
  }
  if (held !== undefined) {
    return { kind: "hold", because: `${held}; waiting: ${wordsOf(goes)}`, isSure };
  }
  if (others !== undefined) return { kind: "keep", because: others, isSure };
  if (mass !== undefined) return { kind: "hold", because: mass, isSure };
  if (movedTo?.isDeployed !== false) return undefined;
  const { name, context } = movedTo.key;
  const because =
    `${name} is named by context ${context}, which has not deployed it as this commit has it`;
  return { kind: "hold", because, isSure, isNamed: true };
}

/** Why a stack that nothing names stays by what its configurations say. */
function whyKept(
  { stack: { policy, directory }, newer, covering }: UnnamedStack,
  complete: boolean,
): string | undefined {
  if (newer === true) return "it runs a newer commit than the one that was looked at";
  if (newer === "unknown") {
    return "its source does not tell any more whether it runs a newer commit; " + TO_REMOVE;
  }
  if (policy === undefined) return TO_REMOVE;
  if (!complete) return "not everything could be read, so it may still be wanted";
  if (covering.length === 0) {
    return `no auto_discovery looks into ${directory} any more; ${TO_REMOVE}`;
  }
  if (!covering.every((scan) => scan.policy.delete)) return "auto_discovery.delete is not set";
  if (covering.some((scan) => scan.paused)) return "its configuration is paused";
  return covering.every((scan) => scan.admitted)
    ? undefined
    : "the webhook filter of its configuration did not match";
}

/** What to do where nothing says whether a stack may be removed, as a document that is gone says nothing. */
const TO_REMOVE =
  "to have it removed, name it again with destroy: {enabled: true, remove_volumes: false}, or with " +
  "destroy: true, which deletes its volumes and ./data as well; over the API alike, with or without " +
  "?volumes=false (in a swarm they always go)";

function whatGoes(facts: RemovalFacts): Goes {
  const { unnamed, removeVolumes, removeImages, isStack, successors, isOver } = facts;
  const deletes = removeVolumes || isStack;
  const waits = deletes || removeImages ? successors : [];
  const after = waits.filter(({ isDeployed }) => isDeployed === undefined).map(({ key }) => key);
  const all = deletes || removeImages ? whyForNow(facts) : undefined;
  const why = deletes ? (unnamed && whyRenamed(unnamed, successors)) ?? all : undefined;
  const isTried = unnamed === undefined && all !== undefined && isOver !== true;
  const stays = isTried
    ? [`its data and images for now: ${all}`]
    : why !== undefined
    ? [keptData(why)]
    : all !== undefined && removeImages
    ? [`its images: ${all}`]
    : [];
  const goes = {
    removeVolumes: deletes && why === undefined,
    removeImages: removeImages && all === undefined,
  };
  const again = after.length > 0 || isTried;
  const [now, later] = again ? [NOTHING, goes] : [goes, NOTHING];
  return { kind: "remove", now, later, again, after, stays };
}

/** Why neither data nor images of a stack go now; `undefined` where they may. */
function whyForNow(
  { unnamed, successors, complete, meanwhile, isOver }: RemovalFacts,
): string | undefined {
  if (isOver) return "it was changed meanwhile";
  if (meanwhile !== undefined) return meanwhile;
  const undone = successors.filter(({ isDeployed }) => isDeployed === false);
  if (unnamed !== undefined) {
    return undone.length === 0 ? undefined : mayGoOn(undone, "as this commit has it");
  }
  if (!complete) return "not all that its configuration names could be read";
  if (undone.length === 0) return undefined;
  return `not deployed as this commit has it, and may go on with them: ${namesOf(undone)}`;
}

/** Why data stays as a stack of another name may go on with it; `undefined` where none may. */
function whyRenamed(
  { stack: { fresh = [] }, isPart }: Pick<Unnamed, "isPart"> & { readonly stack: DiscoveredStack },
  successors: readonly Successor[],
): string | undefined {
  const are = successors.filter(({ isNew }) => isNew);
  if (are.length > 0) return mayGoOn(are, "yet");
  if (fresh.length > 0) {
    return `${fewOf(fresh.map(({ name }) => name))} came when nothing named it any more, and may ` +
      "go on with it, as after a rename; delete by hand what nothing uses";
  }
  return isPart
    ? "another poll of its repository may go on with it; delete by hand what nothing uses"
    : undefined;
}

/** Words for data that stays, since stacks that are named are not deployed. */
function mayGoOn(stacks: readonly Successor[], how: string): string {
  const are = stacks.length === 1 ? "is" : "are";
  return `${namesOf(stacks)} ${are} named and not deployed ${how}, and may ` +
    "go on with it, as after a rename; delete by hand what nothing uses";
}

function namesOf(stacks: readonly Successor[]): string {
  return fewOf(stacks.map(({ key }) => key.name));
}

/** What a removal that waits does, in words. */
function wordsOf(goes: Goes): string {
  if (goes.stays.length > 0) return `removal, which keeps ${goes.stays.join("; ")}`;
  const data = "its volumes and what it wrote to relative mounts";
  return `removal, which ${deletesVolumes(goes) ? "deletes" : "keeps"} ${data}`;
}

/** Words for the data of a stack, all of which stays, and why. */
export function keptData(why?: string): string {
  return `its volumes and the data in its relative mounts${why === undefined ? "" : `: ${why}`}`;
}
