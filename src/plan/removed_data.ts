import { fewOf, type StackKey } from "../model/mod.ts";

/** A stack that a run wants, and that may be on the engine of one that the run removes. */
export interface Successor {
  readonly key: StackKey;
  /** Whether it was never deployed before the run: the removed one may have been renamed to it. */
  readonly isNew: boolean;
  /** Whether it is deployed as the run wants it; absent before its turn. */
  readonly isDeployed?: boolean;
}

/** Facts, as of one moment of a run, that what a removal deletes besides containers and networks depends on. */
export interface DataFacts {
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
  /** Whether it is a stack of a swarm, whose volumes go in any case. */
  readonly isStack: boolean;
  readonly successors: readonly Successor[];
  /** Stacks that were new when a run first found it unnamed. */
  readonly fresh: readonly StackKey[];
  /** Whether the run sees a part only of what its repository wants: other polls may go on with the data. */
  readonly isPart: boolean;
}

/** What a removal deletes besides containers and networks, and when: see {@link decideData}. */
export interface DataFate {
  readonly what: {
    readonly removeVolumes: boolean;
    readonly removeImages: boolean;
    readonly keepsStackVolumes: boolean;
  };
  /** Stacks after which that goes, and is decided again. */
  readonly after: readonly StackKey[];
  /** Why what would go stays, named. */
  readonly kept: readonly string[];
}

/**
 * Decides, purely, what a removal deletes of a stack's data and images. Nothing goes that a stack which the run wants
 * may need: one that is not deployed as it wants it says by no release what it goes on with, nor does one whose turn
 * has not come; and data stays where a new one may be what the stack was renamed to. Asked when the removal is planned
 * and when it begins, and again when the others had their turn; then, and while it waits for its own turn, it stays
 * for whatever has come `meanwhile`, as that the run ended.
 */
export function decideData(facts: DataFacts, meanwhile?: string): DataFate {
  const { removeVolumes, removeImages, isStack, successors } = facts;
  const deletes = removeVolumes || isStack;
  const undone = successors.filter(({ isDeployed }) => isDeployed === false);
  const all = meanwhile ??
    (undone.length === 0 ? undefined : mayGoOn(undone, "as this commit has it"));
  const why = deletes ? whyRenamed(facts) ?? all : undefined;
  const kept = why !== undefined
    ? [keptData(why)]
    : all !== undefined && removeImages
    ? [`its images: ${all}`]
    : [];
  const what = {
    removeVolumes: deletes && why === undefined,
    removeImages: removeImages && all === undefined,
    keepsStackVolumes: why !== undefined,
  };
  const waits = deletes || removeImages ? successors : [];
  const after = waits.filter(({ isDeployed }) => isDeployed === undefined).map(({ key }) => key);
  return { what, after, kept };
}

/** The facts when the stacks of a run had their turn. */
export function afterTurns(facts: DataFacts, isDeployed: (key: StackKey) => boolean): DataFacts {
  const successors = facts.successors.map((each) => ({
    ...each,
    isDeployed: isDeployed(each.key),
  }));
  return { ...facts, successors };
}

/** Why data stays as a stack of another name may go on with it; `undefined` where none may. */
function whyRenamed({ successors, fresh, isPart }: DataFacts): string | undefined {
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
  return `${
    fewOf(stacks.map(({ key }) => key.name))
  } ${are} named and not deployed ${how}, and may ` +
    "go on with it, as after a rename; delete by hand what nothing uses";
}

/** Words for the data of a stack, all of which stays, and why. */
export function keptData(why?: string): string {
  return `its volumes and the data in its relative mounts${why === undefined ? "" : `: ${why}`}`;
}
