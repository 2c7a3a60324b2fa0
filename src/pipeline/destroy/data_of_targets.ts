import { formatStackKey, type TargetListener } from "../../model/mod.ts";
import type { DataFacts } from "../../plan/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { discoveryOwner, type ExpandedDeployment } from "../expand_deployments.ts";
import type { OpenedSource } from "../open_source.ts";
import type { PipelineParts } from "../parts.ts";
import { deletedAfter, deployedListener } from "./left_data.ts";
import { successorsOf } from "./obsolete_removal.ts";
import { wantedOf } from "./plan_obsolete.ts";

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
  { opened: { configuration, request }, listeners }: {
    readonly opened: Pick<OpenedSource, "configuration" | "request">;
    readonly listeners: readonly TargetListener[];
  },
  deployments: readonly ExpandedDeployment[],
  work: (data: DataOfTargets, listeners: readonly TargetListener[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const wanted = wantedOf(deployments);
  const deployed = new Set<string>();
  const isDeployed = (key: Target["key"]) => deployed.has(formatStackKey(key));
  await deletedAfter(parts, isDeployed, async (left) => {
    const factsOf: DataOfTargets["factsOf"] = ({ key, deployment: { destroy } }) => ({
      removeVolumes: destroy.removeVolumes,
      removeImages: destroy.removeImages,
      isStack: parts.ledger.current(key)?.swarm !== undefined,
      // It goes under its own name, and was renamed to none.
      successors: successorsOf(parts, key, wanted).map((each) => ({ ...each, isNew: false })),
      fresh: [],
      isPart: false,
    });
    const leave: DataOfTargets["leave"] = ({ key, revision, deployment }, facts, teller) => {
      const owner = discoveryOwner(configuration, request);
      const directory = deployment.workingDir;
      const stack = { key, owner, repository: revision.source.name, directory };
      const looked = [configuration];
      const since = parts.ledger.mark(key);
      left({ stack, facts, teller, configuration, looked, since, done: "destroyed" });
    };
    await work({ factsOf, leave }, [...listeners, deployedListener(deployed)]);
  }, signal);
}
