import { measuredDirectory, measuredScope } from "../config/mod.ts";
import { type DiscoveredStack, formatStackKey, type Origin, type StackKey } from "../model/mod.ts";

/** A discovered stack of an owner, with what its removal depends on. */
export interface ObsoleteCandidate extends DiscoveredStack {
  /** Whether it runs a newer revision than the one this run read; `unknown` where the source cannot tell. */
  readonly newer: boolean | "unknown";
}

/** A directory that was searched for stacks. */
export interface DiscoveryScan {
  /** Name of the source that was listed. */
  readonly repository: string;
  readonly workingDir: string;
  readonly depth: number;
  readonly policy: NonNullable<DiscoveredStack["policy"]>;
  readonly paused: boolean;
  /** Whether the deployment reacts to the event that started the run. */
  readonly admitted: boolean;
}

/** Facts that obsolete stacks are chosen from. */
export interface ObsoleteInput {
  /** Stacks of the same source, target and reference as the run. */
  readonly stacks: readonly ObsoleteCandidate[];
  /** Every stack that some configuration of the run names, explicit or discovered. */
  readonly named: readonly StackKey[];
  readonly scans: readonly DiscoveryScan[];
  /** Whether these are all configurations, and not those of one of several polls. */
  readonly isWhole: boolean;
}

/** A stack that was named once and that nothing names now, with what its configurations say of its removal. */
export interface UnnamedStack {
  readonly stack: DiscoveredStack;
  readonly newer: ObsoleteCandidate["newer"];
  /** The scans that look into its directory. */
  readonly covering: readonly DiscoveryScan[];
}

/**
 * Chooses, purely, the stacks that were named once and that nothing names now. Leaves out those that another poll may
 * name.
 */
export function chooseUnnamed(input: ObsoleteInput): UnnamedStack[] {
  const named = new Set(input.named.map(formatStackKey));
  const scansAbove = createScansAbove(input.scans);
  return input.stacks.filter(({ key }) => !named.has(formatStackKey(key)))
    .sort((a, b) => formatStackKey(a.key) < formatStackKey(b.key) ? -1 : 1)
    .flatMap(({ newer, ...stack }) => {
      const covering = scansAbove(stack.directory)
        .filter(({ repository }) => repository === stack.repository);
      return covering.length === 0 && !input.isWhole ? [] : [{ stack, newer, covering }];
    });
}

/** A directory, with the scans that start there. */
interface Above {
  readonly scans: { readonly scan: DiscoveryScan; readonly at: ReturnType<typeof measuredScope> }[];
  readonly below: Map<string, Above>;
}

/**
 * Makes a function that finds the scans that look into a directory, by the parts of its path: there may be
 * hundreds of scans for a thousand stacks, and a path may have a thousand parts.
 */
function createScansAbove(all: readonly DiscoveryScan[]): (path: string) => DiscoveryScan[] {
  const top: Above = { scans: [], below: new Map() };
  for (const scan of all) {
    const at = measuredScope(scan);
    let place = top;
    for (const part of at.root === "." ? [] : at.root.split("/")) {
      const next = place.below.get(part) ?? { scans: [], below: new Map() };
      place.below.set(part, next);
      place = next;
    }
    place.scans.push({ scan, at });
  }
  return (path) => {
    const directory = measuredDirectory(path);
    const found: DiscoveryScan[] = [];
    const take = ({ scans }: Above) => {
      for (const { scan, at } of scans) if (at.reaches(directory)) found.push(scan);
    };
    const parts = path === "." ? [] : path.split("/");
    if (parts[0] !== "..") take(top);
    let place: Above | undefined = top;
    for (const part of parts) {
      place = place.below.get(part);
      if (place === undefined) break;
      take(place);
    }
    return found;
  };
}

/** Most stacks that are removed without confirmation. */
const MOST_UNASKED_REMOVALS = 5;

interface RemovalRequest {
  /** The stacks to remove now. */
  readonly removals: readonly StackKey[];
  /** Number of the owner's discovered stacks, including the ones to remove. */
  readonly owned: number;
  readonly origin: Origin;
  /** Formatted keys of the removals that the previous run held back. */
  readonly pending: readonly string[];
}

/**
 * True when removals may be carried out: more than five stacks that are at least half of the
 * owner's need a person, or the same result in two consecutive runs.
 */
export function permitsRemovals({ removals, owned, origin, pending }: RemovalRequest): boolean {
  const isMass = removals.length > MOST_UNASKED_REMOVALS && removals.length * 2 >= owned;
  if (!isMass || origin === "manual") return true;
  return JSON.stringify(removals.map(formatStackKey).sort()) ===
    JSON.stringify([...pending].sort());
}
