import {
  type DiscoveredStack,
  type DiscoveryOwner,
  formatStackArguments,
  formatStackKey,
  type Revision,
  type StackKey,
} from "../../model/mod.ts";
import {
  chooseUnnamed,
  decideRemoval,
  type DiscoveryScan,
  type ObsoleteFacts,
  permitsRemovals,
  type Stays,
  type Unnamed,
  type UnnamedStack,
} from "../../plan/mod.ts";
import { whyElsewhere } from "../../record/mod.ts";
import { allInTurns } from "../../system/mod.ts";
import {
  discoveryOwner,
  type Expansion,
  keyOf,
  namedIn,
  removalPolicy,
  type ScannedBase,
  wantedOf,
} from "../expand_deployments.ts";
import { personHold } from "../hold.ts";
import type { OpenedSource } from "../open_source.ts";
import { whyLeftAlone } from "../owner/own_stack.ts";
import { askEngines } from "../owner_elsewhere.ts";
import type { PipelineParts } from "../parts.ts";
import { isNewer } from "./is_newer.ts";
import { isNew, removalFacts } from "./remove_stack.ts";
import { stillThere } from "./still_there.ts";

/** A run whose source was opened, as far as what it does not name any more depends on it. */
export type ObsoleteRun =
  & Pick<
    OpenedSource,
    | "request"
    | "configuration"
    | "expansion"
    | "trigger"
    | "origin"
    | "passes"
    | "besidePolls"
    | "isNamedBeside"
    | "wantedBeside"
    | "line"
  >
  & {
    /** The stack of which alone a person asks. */
    readonly only?: StackKey | undefined;
  };

/** A stack that nothing names any more, or that is named by another context, and that stays. */
export type Kept = Stays & { readonly stack: DiscoveredStack };

/** The plan for discovered stacks that nothing names any more. */
export interface ObsoletePlan {
  readonly owner: DiscoveryOwner;
  readonly removals: readonly ObsoleteFacts[];
  readonly kept: readonly Kept[];
  /** Why the removals wait for a person or another run, where they do: they are very many. */
  readonly mass: string | undefined;
}

/** Finds the stacks that an earlier run deployed and that nothing in this run names; only one, where a person asked. */
export async function planObsolete(
  parts: PipelineParts,
  run: ObsoleteRun,
  signal: AbortSignal,
): Promise<ObsoletePlan> {
  const { configuration, request, expansion, origin, only } = run;
  const { deployments, failures, scans, left } = expansion;
  const owner = discoveryOwner(configuration, request);
  const looked = lookedAt(run);
  const named = namedIn(expansion);
  const { discovered, unnamed } = await noteUnnamed(parts, run);
  const candidates = await allInTurns(unnamed, async (stack) => {
    const isThere = stack.policy !== undefined || parts.ledger.current(stack.key) !== undefined;
    return isThere ? [{ ...stack, newer: await isNewer(parts, stack, looked, signal) }] : [];
  });
  const scanned = await Promise.all(scans.map((scan) => scanOf(run, scan)));
  const isWhole = request.deployments.length === 0;
  const chosen = chooseUnnamed({ stacks: candidates.flat(), named, scans: scanned, isWhole });
  const complete = failures.length + left.length === 0;
  const isPart = run.besidePolls.some(({ target }) => target === request.target);
  const factsOf = (each: UnnamedStack & Partial<Unnamed>): ObsoleteFacts => {
    return { ...NO_DATA, complete, unnamed: { ...each, isPart } };
  };
  if (chosen.some((each) => goes(factsOf(each)))) {
    const contexts = [...chosen.map((each) => each.stack.key), ...named].map((key) => key.context);
    // A context may lead to another engine since it was asked, and a stack that is named there be this one.
    await askEngines(parts, contexts, signal);
  }
  const asking = { ...run, wanted: wantedOf(deployments) };
  const all = await allInTurns(chosen, async (each) => {
    const facts = factsOf({ ...each, ...await movedFrom(parts, each.stack.key, named) });
    return goes(facts) ? await asked(parts, facts, asking, signal) : facts;
  });
  const removals = all.filter(goes);
  const isPermitted = only !== undefined || permitsRemovals({
    removals: removals.map(({ unnamed: { stack } }) => stack.key),
    owned: discovered.length,
    origin,
    pending: parts.ledger.discovered.pending(owner),
  });
  const mass = isPermitted
    ? undefined
    : `${removals.length} of ${discovered.length} discovered stacks would be ` +
      `removed at once; that needs a manual trigger, or the same result in the next run`;
  const stay = all.flatMap((each): Kept[] => {
    const verdict = decideRemoval(each);
    return verdict.kind === "remove" ? [] : [{ ...verdict, stack: each.unnamed.stack }];
  });
  return {
    owner,
    removals: removals.map((each) => ({ ...each, unnamed: { ...each.unnamed, mass } })),
    // What is looked into still may name the others: the end of that tells of them.
    kept: stay.filter((each) => each.isSure || left.length === 0),
    mass,
  };
}

/** Names of stacks that are noted as fresh: what a person reads of them, and no more than a row may have. */
const MOST_FRESH = 3;

/**
 * Finds the stacks that an earlier run named and this one does not, and notes which of its stacks were never deployed
 * until now. One may be what a removed one was renamed to, also where the removal comes in a later run: as the second
 * of a mass removal, after a hold, when the rest of the configuration can be read again, or when another repository,
 * which may not have it, has no directory of its name any more. So may one that another target's file has, which may
 * have deployed it by then.
 */
export async function noteUnnamed(
  parts: Pick<PipelineParts, "ledger">,
  { configuration, request, expansion, wantedBeside }: ObsoleteRun,
): Promise<{
  readonly discovered: readonly DiscoveredStack[];
  readonly unnamed: readonly DiscoveredStack[];
}> {
  const { ledger } = parts;
  const names = namesIn(expansion, configuration);
  const stacks = ledger.discovered.of(discoveryOwner(configuration, request));
  const unnamed = stacks.filter(({ key, repository }) => {
    const by = names.get(formatStackKey(key));
    return by?.has(repository) !== true && by?.has(configuration.source.name) !== true;
  });
  const never = unnamed.length === 0
    ? []
    : wantedOf(expansion.deployments).filter((key) => isNew(parts, key));
  const beside = unnamed.some(({ fresh }) => fresh === undefined) ? await wantedBeside() : [];
  const noted = unnamed.map((stack) => {
    const isFirst = stack.fresh === undefined;
    const others = isFirst ? beside.filter((key) => isYounger(parts, key, stack.key)) : [];
    const near = stack.fresh?.length ? [] : ledger.owners.near(stack.key, [...never, ...others]);
    // None is noted, too: what is named again after it was unnamed is new then.
    if (near.length === 0 && stack.fresh !== undefined) return stack;
    const withFresh = { ...stack, fresh: near.slice(0, MOST_FRESH) };
    ledger.discovered.set(withFresh);
    return withFresh;
  });
  return {
    discovered: stacks.filter(({ policy }) => policy !== undefined),
    unnamed: noted.filter(({ key }) => !names.has(formatStackKey(key))),
  };
}

/** Whether a stack was never deployed, or first after the last time that anything was decided about another one. */
function isYounger({ ledger }: Pick<PipelineParts, "ledger">, key: StackKey, other: StackKey) {
  if (isNew({ ledger }, key)) return true;
  const first = ledger.history(key, Number.MAX_SAFE_INTEGER).at(-1);
  const [last] = ledger.decisions.of(other, 1);
  return first?.number === 1 && last !== undefined && first.createdAt > last.lastAt;
}

/**
 * The names of a run's stacks, each with the repositories that have them; what a configuration writes down, its own
 * one has.
 */
function namesIn(
  { deployments, failures }: Expansion,
  { source }: Revision,
): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  const note = (key: StackKey, repository = source.name) =>
    names.getOrInsertComputed(formatStackKey(key), () => new Set()).add(repository);
  for (const each of deployments) note(keyOf(each), each.found?.revision.source.name);
  for (const { key, revision } of failures) note(key, revision.source.name);
  return names;
}

/**
 * Forgets what waits for sync windows of stacks that a source names no longer, where all of it could be read and no
 * other run has found a newer commit meanwhile, which may name more.
 */
export function keepDeferred(
  { ledger, newest }: Pick<PipelineParts, "ledger" | "newest">,
  run: ObsoleteRun,
  named: readonly StackKey[],
): void {
  const { failures, left } = run.expansion;
  const unknown = failures.length + left.length + newest.overtaken(lookedAt(run)).length;
  if (unknown === 0) ledger.deferred.keepOnly(run.request, named);
}

/** The revisions by which a run decides what nothing names any more. */
export function lookedAt(
  { configuration, expansion: { scans } }: ObsoleteRun,
): readonly Revision[] {
  return [configuration, ...scans.map(({ revision }) => revision)];
}

/** What is not asked of a stack that stays in any case. */
const NO_DATA = { removeVolumes: false, removeImages: false, isStack: false, successors: [] };

function goes(facts: ObsoleteFacts): boolean {
  return decideRemoval(facts).kind === "remove";
}

/** The facts about a stack that would go, with its data, a person who holds it, and who else has it. */
async function asked(
  parts: PipelineParts,
  { unnamed, complete }: ObsoleteFacts,
  { wanted, expansion, ...run }: ObsoleteRun & { readonly wanted: readonly StackKey[] },
  signal: AbortSignal,
): Promise<ObsoleteFacts> {
  const { stack: { key }, covering } = unnamed;
  const what = {
    removeVolumes: covering.every(({ policy }) => policy.removeVolumes),
    removeImages: covering.every(({ policy }) => policy.removeImages),
    complete,
  };
  const there = await stillThere(parts, unnamed.stack, expansion, signal);
  const held = there === undefined ? personHold(parts, key)?.message : undefined;
  const others = there ?? held ??
    await whyLeftAlone(parts, key, "is not removed, although nothing names it any more", signal) ??
    whyElsewhere(parts.ledger, key) ??
    (await run.isNamedBeside(key)
      ? "another target, or poll, of its repository names it, or may, as it cannot be read now"
      : undefined);
  // Those were all read by then, and may go on with its data.
  const beside = others === undefined ? await run.wantedBeside() : [];
  const data = removalFacts(parts, key, { ...what, wanted: [...wanted, ...beside] });
  return { ...data, unnamed: { ...unnamed, there, held, others } };
}

/** The plan for a stack that stays although nothing names it any more, or its context was changed. */
export function planOfKept({ because, isNamed }: Pick<Kept, "because" | "isNamed">) {
  const why = isNamed
    ? "it stays, with its data"
    : "nothing names it any more, and it is kept with its data";
  return { kind: "skip", reason: "unnamed", message: `${why}: ${because}`, services: [] } as const;
}

/** The reason for removing a stack that was discovered in a directory. */
export function whyObsolete(directory: string): string {
  return `nothing names it any more: it was discovered in ${directory}`;
}

/**
 * The stack that a changed context makes of one; of several, that on its engine, or which is not deployed. And why the
 * old one stays in any case: that context leads to the same engine, and is to have its data, or has never deployed it,
 * or does not exist.
 */
async function movedFrom(
  { ledger, hosts }: Pick<PipelineParts, "ledger" | "hosts">,
  key: StackKey,
  named: readonly StackKey[],
): Promise<Pick<Unnamed, "movedTo" | "elsewhere">> {
  const others = named.filter((each) => each.name === key.name);
  const beside = ledger.owners.contextsBeside(key);
  const to = others.find(({ context }) => beside.includes(context)) ??
    others.find((each) => ledger.current(each) === undefined) ?? others[0];
  if (to === undefined) return {};
  const isBeside = beside.includes(to.context);
  if (!isBeside && ledger.current(to) !== undefined) return { movedTo: { key: to } };
  const how = isBeside
    ? "which leads to its engine: to have that one take it over, stackwright forget " +
      formatStackArguments(key)
    : !await hosts.has(to.context)
    ? "which does not exist: write one that does"
    : "which has not deployed it yet";
  return { elsewhere: `${key.name} is named by context ${to.context}, ${how}` };
}

async function scanOf(
  { trigger, passes }: ObsoleteRun,
  { base, revision }: ScannedBase,
): Promise<DiscoveryScan> {
  const { workingDir, autoDiscovery, pause, webhookFilter } = base.deployment;
  return {
    repository: revision.source.name,
    workingDir,
    depth: autoDiscovery.depth,
    policy: removalPolicy(autoDiscovery),
    paused: pause,
    // Only a webhook may be ignored by a deployment.
    admitted: trigger !== "webhook" || await passes(webhookFilter),
  };
}
