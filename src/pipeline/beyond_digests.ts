/**
 * Plans beyond digests: containers that carry the right ones, and are not as they should be all the
 * same.
 */
import {
  readiness,
  requireNoNewNetworks,
  requireNoStrangers,
  type ShownRelease,
  withNewNetworks,
} from "../deploy/mod.ts";
import type { ObservedStack, Plan, Release, StackKey } from "../model/mod.ts";
import { summarise } from "../plan/mod.ts";
import { stackFiles } from "./carry_out.ts";
import type { PreparedRelease } from "../prepare/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** Facts about the attempts before. */
export interface EarlierAttempts {
  /** Digest of the release that failed last and was not followed by a success. */
  readonly failed: string | undefined;
  /** Digest of the release that was deployed last. */
  readonly deployed: string | undefined;
  readonly observed: ObservedStack;
}

/**
 * Containers that a failed release left behind carry its digests, so comparing digests finds nothing
 * to do, or to start what ended. That is no success: what does not work is replaced when the release
 * is attempted again.
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
 * The plan for a release whose containers are as they should be: nothing, or its files are put in
 * place. They differ where only services without containers use them, or where a process ended while
 * it changed them. Another process that is changing the stack is left to it.
 */
export async function withFiles(
  parts: PipelineParts,
  key: StackKey,
  release: ShownRelease,
  plan: Plan,
): Promise<Plan> {
  if (plan.kind !== "skip" || plan.reason !== "no_changes") return plan;
  if (parts.ledger.heldElsewhere(key) !== undefined) return plan;
  if (await stackFiles(parts, key).show(release)) return plan;
  const message = "bring the files of its containers up to date";
  return { kind: "deploy", message, services: plan.services };
}

/**
 * The plan, with the services replaced that use a network which the release wants to be another one.
 * Throws `conflict` where that network cannot be made anew.
 */
export async function withNetworks(
  { host: { engine } }: PipelineParts,
  { release, networks }: Pick<PreparedRelease, "release" | "networks">,
  plan: Plan,
  { observed, deployed }: Pick<EarlierAttempts, "observed" | "deployed">,
  signal: AbortSignal,
): Promise<Plan> {
  if (networks.length === 0 || plan.kind === "destroy") return plan;
  if (deployed === undefined) requireNoNewNetworks(networks);
  const services = withNewNetworks(plan.services, networks, { release, observed });
  const all = await engine.listContainers({}, signal);
  requireNoStrangers(networks, all, { release, services });
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0 ? plan : { kind: "deploy", message: summarise(changes), services };
}
