/**
 * Changes to plans that digests do not show: containers with the right digests may still be broken,
 * have old files, or be on networks that have to be replaced.
 */
import {
  type ChangedNetwork,
  type Neighbours,
  readiness,
  requireNoNewNetworks,
  requireNoStrangers,
  type ShownRelease,
  stackDirectories,
  withEmptyBeginnings,
  withMovedMounts,
  withNewNetworks,
  withOldData,
  withUpdateOrders,
} from "../deploy/mod.ts";
import {
  type ComposeModel,
  fewOf,
  type ObservedStack,
  type Plan,
  type Release,
  type StackKey,
} from "../model/mod.ts";
import { summarise, withStarted } from "../plan/mod.ts";
import { stackFiles } from "./placed_files.ts";
import type { PipelineParts } from "./parts.ts";

/** Facts about earlier attempts. */
export interface EarlierAttempts {
  /** Digest of the release that failed last and was not followed by a success. */
  readonly failed: string | undefined;
  /** Digest of the release that was deployed last. */
  readonly deployed: string | undefined;
  readonly observed: ObservedStack;
}

/** A release that changes networks of its stack. */
export interface WithNetworks {
  readonly release: Release;
  /** Existing networks that it defines differently. */
  readonly networks: readonly ChangedNetwork[];
}

/**
 * Recreates services that did not work in a failed attempt at the same release. The containers it left
 * have the right digests: comparing these would keep or merely start them, as a success.
 */
export function planAfterFailure(
  release: Pick<Release, "digest" | "services">,
  plan: Plan,
  earlier: EarlierAttempts,
): Plan {
  if (plan.kind === "destroy" || earlier.failed !== release.digest) return plan;
  if (earlier.deployed === release.digest) return plan;
  const services = plan.services.map((each) => {
    const service = release.services.find(({ name }) => name === each.name);
    if (each.action !== "keep" && each.action !== "start") return each;
    if (service === undefined || readiness([service], earlier.observed).kind === "ready") {
      return each;
    }
    const because = ["it did not work when this release was attempted before"];
    return { name: each.name, action: "recreate" as const, because };
  });
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0 ? plan : { kind: "deploy", message: summarise(changes), services };
}

/**
 * Turns a plan that changes nothing into a deployment of the files, where the release's files on
 * disk are out of date: only services without containers use them, or a process ended while it
 * switched them. Leaves files alone while another process changes the stack. A deployment of the
 * release whose tree is at `tree` says which files of containers it replaces.
 */
export async function withFiles(
  parts: PipelineParts,
  key: StackKey,
  { release, tree }: { readonly release: ShownRelease; readonly tree?: string },
  plan: Plan,
): Promise<Plan> {
  const files = stackFiles(parts, key);
  const isDeployed = plan.kind !== "skip" || plan.reason !== "no_changes" ||
    parts.ledger.heldElsewhere(key) !== undefined || await files.show(release);
  const message = "bring the files of its containers up to date";
  const deployed: Plan = isDeployed ? plan : { kind: "deploy", message, services: plan.services };
  if (deployed.kind !== "deploy" || tree === undefined) return deployed;
  const theirs = (await files.replaces(tree, release)).map((path) => `./${path}`);
  if (theirs.length === 0) return deployed;
  const said = `replaces what containers wrote to ${fewOf(theirs, MOST_FILES)}`;
  return { ...deployed, message: `${deployed.message}; ${said}` };
}

/** Files of containers that a message names. */
const MOST_FILES = 5;

/**
 * The plan, with services recreated that use networks which the release defines differently. Throws
 * `conflict` where such a network cannot be replaced.
 */
export async function withNetworks(
  { host: { engine } }: PipelineParts,
  { release, networks }: WithNetworks,
  plan: Plan,
  { observed, deployed }: Pick<EarlierAttempts, "observed" | "deployed">,
  signal: AbortSignal,
): Promise<Plan> {
  if (networks.length === 0 || plan.kind === "destroy") return plan;
  if (release.swarm !== undefined) requireNoNewNetworks(networks, "it is a swarm's");
  if (deployed === undefined) {
    requireNoNewNetworks(networks, "there is no earlier release of ours to go back to");
  }
  const services = withNewNetworks(plan.services, networks, { release, observed });
  const all = await engine.listContainers({}, signal);
  requireNoStrangers(networks, all, { release, services });
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0 ? plan : { kind: "deploy", message: summarise(changes), services };
}

/** The plan with what only containers need: starts and data of adopted containers, orders of updates. */
export async function withContainers(
  parts: PipelineParts,
  { release, networks, neighbours }: WithNetworks & {
    readonly neighbours?: Neighbours | undefined;
  },
  { plan, observed, previousModel, jobs }: {
    readonly plan: Plan;
    readonly observed: ObservedStack;
    readonly previousModel: () => ComposeModel | undefined;
    /** Those that have ended before anything is changed. */
    readonly jobs: ObservedStack["containers"];
  },
  signal: AbortSignal,
): Promise<Plan> {
  const { host: { dataDir, engine } } = parts;
  const { stack } = stackDirectories(dataDir, release.key);
  const to = { model: release.model, stack };
  const started = withStarted(plan, release.services, observed);
  const moved = await withMovedMounts(engine, to, observed, started, signal);
  const brought = await withOldData(parts, release, { ...observed, jobs }, moved, signal);
  const told = await withEmptyBeginnings(
    parts,
    { release, neighbours },
    observed,
    brought,
    signal,
  );
  const found = { release, observed, previousModel, remade: networks };
  return await withUpdateOrders(engine, told, found, signal);
}
