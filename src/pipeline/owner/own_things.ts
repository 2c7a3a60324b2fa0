import { isLeaderless, networksOf, objectsOf, readMark, volumesOf } from "../../deploy/mod.ts";
import type { Engine } from "../../docker/engine.ts";
import {
  askingSource,
  errors,
  formatAdoption,
  formatOwner,
  isOurs,
  isStackwrightError,
  LABELS,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type StackKey,
  type StackOwner,
  type StackwrightError,
  type ToldTarget,
} from "../../model/mod.ts";
import type { Ledger } from "../../record/ledger.ts";
import type { OthersSay } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { claimOf, withSeen } from "./claim.ts";
import { type Claim, type ThingOfStack, whose, whoseThing } from "./whose.ts";

/** A release, and what tells whose it is. */
type Owned = Pick<Release, "key" | "configuration" | "revision">;

/** Things under a stack's name. */
interface Things {
  readonly containers: readonly Pick<ObservedContainer, "name" | "labels">[];
  /** What lies there without running: volumes with data, and perhaps more. */
  readonly left?: readonly ThingOfStack[];
}

/** A thing under a stack's name that is another's. */
export interface Anothers {
  /** The kind and name of it: `container shop-web-1`. */
  readonly what: string;
  readonly source: string;
  /** Whether it is from another repository of the same configuration, perhaps. */
  readonly isRepository: boolean;
  /** Words for it to follow the stack's name. */
  readonly how: string;
}

/** All of a stack that tells whose it is: its containers, and services of a swarm that have none. */
export function partsOf({ containers, idle = [] }: ObservedStack): Things["containers"] {
  return [...containers, ...idle.map(({ service, labels }) => ({ name: service, labels }))];
}

/**
 * Finds a thing under a stack's name that is another's than who claims the stack. That a release names
 * a volume makes it nobody's own: it may never have run.
 */
export function findAnothers(
  claim: Claim,
  { containers, left = [] }: Things,
): Anothers | undefined {
  for (const { name, labels } of containers) {
    const [mark, what] = [readMark(labels), `container ${name}`];
    const judged = whose(mark, claim);
    if (judged.kind !== "anothers") continue;
    const by = mark.maker === "doco-cd" ? " by doco-cd" : "";
    return { ...judged, what, how: `runs from ${judged.source}${by} (${what})` };
  }
  if (left.length === 0) return undefined;
  const ofLeft = withSeen(claim, containers);
  for (const thing of left) {
    const judged = whoseThing(thing, ofLeft);
    if (judged.kind !== "anothers") continue;
    const { kind, name } = thing;
    const what = `${kind} ${name}`;
    const has = kind === "volume" ? "data" : `a ${kind}`;
    return { ...judged, what, how: `has ${has} of ${judged.source} (${what})` };
  }
  return undefined;
}

/** Volumes with data under a stack's name; copies of files are none. */
export async function dataVolumes(
  engine: Pick<Engine, "listVolumes">,
  key: StackKey,
  signal: AbortSignal,
): Promise<readonly ThingOfStack[]> {
  const all = await volumesOf(engine, key, signal);
  return all.filter(({ labels }) => labels[LABELS.files] === undefined)
    .map((each) => ({ ...each, kind: "volume" }));
}

/**
 * Networks under a stack's name, and secrets and configs of a swarm: the next one of that name would get
 * them. A swarm without a leader tells nothing, which throws only where the stack is to be one of it.
 */
export async function joinedThings(
  engine: Pick<Engine, "info" | "listNetworks" | "swarm">,
  { key, swarm: wanted }: Pick<ToldTarget, "key"> & { readonly swarm?: object },
  signal: AbortSignal,
): Promise<readonly ThingOfStack[]> {
  const networks = await networksOf(engine, key, signal);
  const { swarm } = await engine.info(signal);
  const ofSwarm = () => objectsOf(engine, key, signal);
  const objects = wanted !== undefined
    ? await ofSwarm()
    : swarm === "manager"
    ? await ofSwarm().catch(noneLeaderless)
    : [];
  return [...networks.map((each) => ({ ...each, kind: "network" as const })), ...objects];
}

/** Nothing, where an engine refuses to list what is in its swarm as that has no leader; throws all else. */
export function noneLeaderless(error: unknown): never[] {
  if (isLeaderless(error)) return [];
  throw error;
}

/**
 * Refuses to go on with a release where another manager's containers have come, or volumes while
 * nothing of the stack runs: this ledger knows nothing of that manager, which may have deployed under
 * the name meanwhile. Ask it, with a fresh look, before containers stop or are made. Throws `conflict`.
 */
export async function requireOwnThings(
  parts: Pick<PipelineParts, "ledger" | "host" | "options">,
  release: Owned,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<void> {
  const containers = partsOf(observed);
  requireOwnOf(parts, release, { containers });
  // While a container of the stack is there, nobody else can have deployed under its name.
  if (containers.some(isOurs)) return;
  const left = await dataVolumes(parts.host.engine, release.key, signal);
  requireOwnOf(parts, release, { containers, left });
}

function requireOwnOf(
  { ledger, options: { reachedAs } }: Pick<PipelineParts, "ledger" | "options">,
  release: Owned,
  things: Things,
): void {
  const { key } = release;
  const claimant = { source: askingSource(release), reference: "" };
  const theirs = findAnothers(claimOf(ledger, key, { by: claimant, reachedAs }), things);
  if (theirs !== undefined) throw notYours(key, theirs.how, claimant);
}

/** Whether a release's stack has another manager's containers, which it logs then. */
export function isOthersByContainers(
  parts: Pick<PipelineParts, "ledger" | "log" | "options">,
  release: Owned,
  observed: ObservedStack,
): boolean {
  try {
    requireOwnOf(parts, release, { containers: partsOf(observed) });
    return false;
  } catch (error) {
    if (!isStackwrightError(error, "conflict")) throw error;
    const { name: stack, context } = release.key;
    parts.log.warning(`nothing is repaired: ${error.message}`, { stack, context });
    return true;
  }
}

/** What the containers of a stack, as it is `seen`, say of its owner to a job that would stop it. */
export function saidBy(
  ledger: Ledger,
  key: StackKey,
  seen: ObservedStack = { containers: [] },
): OthersSay {
  const things = { containers: partsOf(seen) };
  let said: { readonly theirs: Anothers | undefined } | undefined;
  // A job asks once for each service that it stops, each time in the same owner's name.
  return {
    anothers: (by) =>
      (said ??= { theirs: findAnothers(claimOf(ledger, key, { by }), things) })
        .theirs?.source,
  };
}

/** The error for a stack of another owner, with what a person can do. */
export function notYours(key: StackKey, how: string, claimant: StackOwner): StackwrightError {
  return errors.conflict(
    `conflict: ${key.name} already ${how}, so it was not deployed from ${formatOwner(claimant)}; ` +
      `choose another name, or hand it over: ${formatAdoption(key, claimant)}`,
  );
}
