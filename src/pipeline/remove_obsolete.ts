import { passesWebhookFilter } from "../config/mod.ts";
import { volumesText } from "../deploy/mod.ts";
import {
  type Deployment,
  type DiscoveredStack,
  type DiscoveryOwner,
  formatRevision,
  formatStackKey,
  isStackwrightError,
  type Origin,
  ownerFrom,
  type Revision,
  type RunReporter,
  type RunTarget,
  type SourceRequest,
  stackKey,
  toStackwrightError,
  type Trigger,
} from "../model/mod.ts";
import { chooseObsolete, type ObsoleteVerdict, permitsRemovals } from "../plan/mod.ts";
import { destroyTarget } from "./destroy_target.ts";
import type { Expansion, ScannedBase } from "./expand_deployments.ts";
import type { PipelineParts } from "./parts.ts";
import { deploying } from "./places.ts";

/** A run, as far as obsolete stacks depend on it. */
export interface ObsoleteRun {
  readonly request: SourceRequest;
  readonly configuration: Revision;
  readonly expansion: Expansion;
  readonly trigger: Trigger;
  readonly origin: Origin;
}

/** A stack that is to be removed. */
export type Removal = ObsoleteVerdict & { readonly kind: "remove" };

/** What is to be done about stacks that nothing names any more. */
export interface ObsoletePlan {
  readonly owner: DiscoveryOwner;
  readonly removals: readonly Removal[];
  readonly kept: readonly (ObsoleteVerdict & { readonly kind: "keep" })[];
  /** Why the removals wait for a person or another run; empty when they do not. */
  readonly held: string;
}

/** Finds the stacks that auto-discovery found once and that nothing in the run names now. */
export async function planObsolete(
  parts: PipelineParts,
  run: ObsoleteRun,
  signal: AbortSignal,
): Promise<ObsoletePlan> {
  const { configuration, request, expansion, origin } = run;
  const owner = {
    source: configuration.source.name,
    target: request.target,
    reference: configuration.reference,
  };
  const stacks = parts.ledger.discovered.of(owner);
  const looked = [configuration, ...expansion.scans.map((scan) => scan.revision)];
  const candidates = await Promise.all(
    stacks.map(async (stack) => ({ ...stack, newer: await isNewer(parts, stack, looked, signal) })),
  );
  const verdicts = chooseObsolete({
    stacks: candidates,
    named: expansion.deployments.map(keyOf),
    scans: expansion.scans.map((scan) => scanOf(run, scan)),
    complete: expansion.failures.length === 0,
  });
  const removals = verdicts.filter((each) => each.kind === "remove");
  const permitted = permitsRemovals({
    removals: removals.map((each) => each.stack.key),
    owned: stacks.length,
    origin,
    pending: parts.ledger.discovered.pending(owner),
  });
  return {
    owner,
    removals,
    kept: verdicts.filter((each) => each.kind === "keep"),
    held: permitted ? "" : `${removals.length} of ${stacks.length} discovered stacks would be ` +
      `removed at once; that needs a manual trigger, or the same result in the next run`,
  };
}

/**
 * Removes what {@link planObsolete} found. One that fails keeps neither the others nor the
 * deployments of the run from happening.
 */
export async function removeObsolete(
  parts: PipelineParts,
  run: ObsoleteRun,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  const { owner, removals, kept, held } = await planObsolete(parts, run, signal);
  const { discovered } = parts.ledger;
  const waiting = held === "" ? [] : removals.map((each) => formatStackKey(each.stack.key));
  discovered.setPending(owner, waiting);
  for (const { stack, because } of kept) note(parts, run, stack, { kind: "skip", why: because });
  if (held !== "") parts.log.warning(held, { repository: owner.source });
  await Promise.all(removals.map(async (removal) => {
    const { stack } = removal;
    if (held === "") return await remove(parts, { run, removal, reporter }, signal);
    note(parts, run, stack, { kind: "skip", why: held });
    reporter.target(entry(run, stack, { status: "skipped", reason: `paused: ${held}` }));
  }));
}

interface RemovalWork {
  readonly run: ObsoleteRun;
  readonly removal: Removal;
  readonly reporter: RunReporter;
}

async function remove(
  parts: PipelineParts,
  { run, removal, reporter }: RemovalWork,
  signal: AbortSignal,
): Promise<void> {
  const { stack, removeVolumes, removeImages } = removal;
  const { key, directory } = stack;
  const log = parts.log.with({ stack: key.name, context: key.context });
  const release = parts.ledger.current(key)?.id;
  const isUnchanged = () =>
    JSON.stringify(parts.ledger.discovered.get(key)) === JSON.stringify(stack) &&
    parts.ledger.current(key)?.id === release;
  try {
    await parts.stackLock.run(formatStackKey(key), async () => {
      // Somebody may have deployed it while this run waited for the lock.
      if (!isUnchanged()) return;
      const why = whyObsolete(directory);
      log.info(`removing the stack: ${why}`);
      const what = { removeVolumes, removeImages };
      const identity = { configuration: ownerFrom(run.configuration) };
      const work = () => destroyTarget(parts, key, identity, what, signal);
      const deleted = await deploying(parts, stack.repository, work, signal);
      if (deleted === undefined) return parts.ledger.discovered.remove(key);
      const message = `removed: ${why}${volumesText("deleted", deleted)}`;
      note(parts, run, stack, { kind: "destroy", why: message });
      reporter.target(entry(run, stack, { status: "succeeded", message }));
    }, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `removing ${key.name}`);
    log.error(`the stack was not removed: ${error.message}`, { error });
    // Whoever has taken it over decides about it now.
    if (isStackwrightError(error, "conflict")) parts.ledger.discovered.remove(key);
    reporter.target(entry(run, stack, { status: "failed", message: error.message }));
  }
}

/** Why a stack is removed that was discovered in a directory. */
export function whyObsolete(directory: string): string {
  return `nothing names it any more: it was discovered in ${directory}`;
}

function note(
  parts: PipelineParts,
  { trigger, origin, configuration }: ObsoleteRun,
  { key }: DiscoveredStack,
  { kind, why }: { readonly kind: "skip" | "destroy"; readonly why: string },
): void {
  const message = kind === "skip" ? `nothing names it any more, and it is kept: ${why}` : why;
  const revision = formatRevision(configuration);
  const decision = { trigger, origin, revision, kind, message, changes: [], services: [] };
  parts.ledger.decisions.add(key, decision, parts.clock.now());
}

function entry(
  { configuration }: ObsoleteRun,
  { key }: DiscoveredStack,
  rest: Omit<RunTarget, "context" | "stack" | "revision">,
): RunTarget {
  const revision = formatRevision(configuration);
  return { context: key.context, stack: key.name, revision, ...rest };
}

function keyOf({ declared, found }: Expansion["deployments"][number]) {
  return found?.stack.key ?? stackKey(declared.deployment.context, declared.deployment.name);
}

function scanOf(run: ObsoleteRun, { base, revision }: ScannedBase) {
  const { workingDir, autoDiscovery, pause } = base.deployment;
  const { depth, delete: remove, removeVolumes, removeImages } = autoDiscovery;
  return {
    repository: revision.source.name,
    workingDir,
    depth,
    policy: { delete: remove, removeVolumes, removeImages },
    paused: pause,
    admitted: admits(run, base.deployment),
  };
}

/** Whether the event behind a run is one that a deployment reacts to. Only webhooks are filtered. */
function admits({ trigger, request, configuration }: ObsoleteRun, { webhookFilter }: Deployment) {
  if (trigger !== "webhook") return true;
  const names = [request.reference, configuration.reference];
  return names.some((name) => passesWebhookFilter(webhookFilter, name));
}

/** Whether a stack runs something newer than what this run looked at, on the same reference. */
async function isNewer(
  parts: PipelineParts,
  { key }: DiscoveredStack,
  looked: readonly Revision[],
  signal: AbortSignal,
): Promise<boolean> {
  const current = parts.ledger.current(key);
  if (current === undefined) return false;
  const deployed = [current.revision, ...current.configuration ? [current.configuration] : []];
  for (const revision of deployed) {
    const now = looked.find(({ source, reference }) =>
      source.name === revision.source.name && reference === revision.reference
    );
    if (now === undefined || now.id === revision.id) continue;
    const located = { ...revision, source: now.source };
    if (await parts.source.isAncestor(now, located, signal) === true) return true;
  }
  return false;
}
