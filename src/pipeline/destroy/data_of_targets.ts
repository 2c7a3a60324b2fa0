import { formatStackKey, type TargetListener } from "../../model/mod.ts";
import type { DataFacts } from "../../plan/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { discoveryOwner, type ExpandedDeployment, keyOf } from "../expand_deployments.ts";
import type { OpenedSource } from "../open_source.ts";
import type { PipelineParts } from "../parts.ts";
import { removalWish } from "./failed_removal.ts";
import { deletedAfter, deployedListener, isReleaseOf } from "./left_data.ts";
import { successorsOf } from "./obsolete_removal.ts";
import { lookedAt, wantedOf } from "./plan_obsolete.ts";

/** Data of targets with `destroy`, which waits for the targets beside them: these may go on with it. */
export interface DataOfTargets {
  /** What decides about the data of a target. */
  readonly factsOf: (target: Pick<Target, "key" | "deployment">) => DataFacts;
  /** Notes that a target was destroyed but for its data: what deletes that tells how it ended. */
  readonly leave: (target: Target, facts: DataFacts, teller: Teller) => void;
}

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
  work: (data: DataOfTargets, listeners: readonly TargetListener[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { configuration, request } = opened;
  // Another run may be at one of those that the configuration names, or this one be for a few alone.
  const wanted = wantedOf(opened.expansion.deployments);
  const here = new Set(deployments.map((each) => formatStackKey(keyOf(each))));
  const deployed = new Set<string>();
  const isDeployed = (key: Target["key"]) =>
    here.has(formatStackKey(key))
      ? deployed.has(formatStackKey(key))
      : isReleaseOf(parts, key, lookedAt(opened));
  await deletedAfter(parts, isDeployed, async (left) => {
    const factsOf: DataOfTargets["factsOf"] = ({ key, deployment: { destroy } }) => ({
      removeVolumes: destroy.removeVolumes,
      removeImages: destroy.removeImages,
      isStack: parts.ledger.current(key)?.swarm !== undefined,
      // It goes under its own name, and was renamed to none.
      successors: successorsOf(parts, key, wanted).map((each) => ({ ...each, isNew: false })),
      fresh: [],
      // What cannot be read may go on with it.
      isPart: opened.expansion.failures.length + opened.expansion.left.length > 0,
    });
    const leave: DataOfTargets["leave"] = (target, facts, teller) => {
      const { key, revision, deployment } = target;
      const owner = discoveryOwner(configuration, request);
      const directory = deployment.workingDir;
      const stack = { key, owner, repository: revision.source.name, directory };
      const looked = [configuration];
      const since = parts.ledger.mark(key);
      const attempted = { ...target, wish: removalWish(target) };
      left({ stack, facts, teller, configuration, looked, since, attempted, done: "destroyed" });
    };
    await work({ factsOf, leave }, [...listeners, deployedListener(deployed)]);
  }, signal);
}
