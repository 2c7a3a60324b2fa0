import type { TargetListener } from "../../model/mod.ts";
import type { RemovalFacts } from "../../plan/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { discoveryOwner, type ExpandedDeployment } from "../expand_deployments.ts";
import type { OpenedSource } from "../open_source.ts";
import type { PipelineParts } from "../parts.ts";
import { removalWish } from "./failed_removal.ts";
import { deletedAfter, deployedListener, isDeployedBy } from "./left_data.ts";
import { lookedAt } from "./plan_obsolete.ts";

/**
 * Notes that a target with `destroy` was removed but for its data, which the targets beside it may go on with: what
 * deletes that tells how it ended.
 */
export type LeaveData = (target: Target, facts: RemovalFacts, teller: Teller) => void;

/**
 * Deploys targets by `work`, and deletes the data of those with `destroy` after that, as of discovered stacks that
 * nothing names any more.
 */
export async function withDataOfTargets(
  parts: PipelineParts,
  { opened, listeners }: {
    readonly opened: OpenedSource;
    readonly listeners: readonly TargetListener[];
  },
  deployments: readonly ExpandedDeployment[],
  work: (onLeft: LeaveData, listeners: readonly TargetListener[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { configuration, request } = opened;
  // Another run may be at one of those that the configuration names, or this one be for a few alone.
  const deployed = new Set<string>();
  const looked = lookedAt(opened);
  const isDeployed = isDeployedBy(parts, { here: deployments, deployed, looked });
  await deletedAfter(parts, isDeployed, async (left) => {
    const onLeft: LeaveData = (target, facts, teller) => {
      const { key, revision, deployment: { workingDir: directory } } = target;
      const owner = discoveryOwner(configuration, request);
      const stack = { key, owner, repository: revision.source.name, directory };
      const attempted = { ...target, wish: removalWish(target) };
      const since = parts.ledger.mark(key);
      const done = "destroyed";
      left({
        stack,
        facts,
        teller,
        configuration,
        looked: [configuration],
        since,
        attempted,
        done,
      });
    };
    await work(onLeft, [...listeners, deployedListener(deployed)]);
  }, signal);
}
