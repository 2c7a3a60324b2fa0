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
  /** Whether everything could be read: unreadable configurations must not look deleted. */
  readonly complete: boolean;
}

/** A verdict on a stack that nothing names any more. */
export type ObsoleteVerdict =
  & { readonly stack: DiscoveredStack }
  & (
    | { readonly kind: "remove"; readonly removeVolumes: boolean; readonly removeImages: boolean }
    | {
      readonly kind: "keep";
      readonly because: string;
      /** False where an unreadable configuration, or a newer commit, may still name it. */
      readonly isSure: boolean;
    }
  );

/**
 * Chooses, purely, what becomes of each stack that was named once and that nothing names now.
 * Leaves out stacks that are named, and those that another poll may name.
 *
 * The policy is that of the configurations whose directories cover the stack, and all of them must
 * permit the removal. Without any it stays: who ends a discovery, or has it look elsewhere, has not said
 * that what it found is to go, nor with what.
 */
export function chooseObsolete(input: ObsoleteInput): ObsoleteVerdict[] {
  const named = new Set(input.named.map(formatStackKey));
  const scansAbove = createScansAbove(input.scans);
  return input.stacks.filter(({ key }) => !named.has(formatStackKey(key)))
    .sort((a, b) => formatStackKey(a.key) < formatStackKey(b.key) ? -1 : 1)
    .flatMap((stack) => {
      const covering = scansAbove(stack.directory)
        .filter(({ repository }) => repository === stack.repository);
      return covering.length === 0 && !input.isWhole ? [] : [judge(stack, covering, input)];
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

function judge(
  { newer, ...stack }: ObsoleteCandidate,
  covering: readonly DiscoveryScan[],
  input: ObsoleteInput,
): ObsoleteVerdict {
  const isWritten = stack.policy === undefined;
  const isSure = newer === false && (input.complete || isWritten);
  const keep = (because: string) => ({ stack, kind: "keep" as const, because, isSure });
  if (newer === true) return keep("it runs a newer commit than the one that was looked at");
  if (newer === "unknown") {
    return keep("its source does not tell any more whether it runs a newer commit; " + TO_REMOVE);
  }
  if (isWritten) return keep(TO_REMOVE);
  if (!input.complete) return keep("not everything could be read, so it may still be wanted");
  if (covering.length === 0) {
    return keep(`no auto_discovery looks into ${stack.directory} any more; ${TO_REMOVE}`);
  }
  const policies = covering.map((scan) => scan.policy);
  if (!policies.every((policy) => policy.delete)) return keep("auto_discovery.delete is not set");
  if (covering.some((scan) => scan.paused)) return keep("its configuration is paused");
  if (covering.some((scan) => !scan.admitted)) {
    return keep("the webhook filter of its configuration did not match");
  }
  return {
    stack,
    kind: "remove",
    removeVolumes: policies.every((policy) => policy.removeVolumes),
    removeImages: policies.every((policy) => policy.removeImages),
  };
}

/** What to do where nothing says whether a stack may be removed, as a document that is gone says nothing. */
const TO_REMOVE =
  "to have it removed, name it again with destroy: {enabled: true, remove_volumes: false}, or with " +
  "destroy: true, which deletes its volumes and ./data as well; over the API alike, with or without " +
  "?volumes=false (in a swarm they always go)";

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
