import type { RunStore } from "../record/mod.ts";
import { adoptOperation, type AdoptParts } from "./adopt.ts";
import { type CompactionParts, compactMirrorsOperation } from "./compact_mirrors.ts";
import { type DeploymentParts, listDeploymentsOperation } from "./deployments.ts";
import { diffReleasesOperation } from "./diff_releases.ts";
import { forgetOperation, type ForgetParts } from "./forget.ts";
import { getDeploymentOperation } from "./get_deployment.ts";
import { healthOperation, type HealthParts } from "./health.ts";
import { holdOperation, type HoldParts, resumeOperation } from "./hold.ts";
import { type JobOperationParts, listJobsOperation, runJobOperation } from "./jobs.ts";
import { listDecisionsOperation } from "./list_decisions.ts";
import { listReleasesOperation } from "./list_releases.ts";
import {
  controlProjectOperation,
  getProjectOperation,
  listProjectsOperation,
  type ProjectOperationParts,
  recreateProjectOperation,
  removeProjectOperation,
} from "./projects.ts";
import { ofKnownContext } from "./context.ts";
import type { Operation } from "./operation.ts";
import { rollBackOperation } from "./roll_back.ts";
import { runPollsOperation, type RunPollsParts } from "./run_polls.ts";
import { getRunOperation, listRunsOperation } from "./runs.ts";
import type { StackParts } from "./stack_parts.ts";
import {
  applyStackOperation,
  planStackOperation,
  retryStackOperation,
  type SyncStackParts,
} from "./sync_stack.ts";
import {
  controlStackOperation,
  getStackOperation,
  listStacksOperation,
  removeStackOperation,
  type StackOperationParts,
} from "./stacks.ts";
import { type SyncWindowParts, syncWindowsOperation } from "./sync_windows.ts";
import { unpinOperation } from "./unpin.ts";

/** All operations. */
export type Operations = ReturnType<typeof createOperations>;

/** Parts of all operations. */
export interface OperationParts
  extends
    Pick<HealthParts, "checkEngine" | "clock">,
    DeploymentParts,
    StackParts,
    Pick<HoldParts, "learned">,
    SyncStackParts,
    RunPollsParts,
    SyncWindowParts,
    JobOperationParts,
    CompactionParts,
    ProjectOperationParts,
    StackOperationParts,
    ForgetParts,
    AdoptParts {
  readonly runs: RunStore;
  /** Names of the existing contexts, and of those with stacks. */
  readonly contexts: () => Promise<readonly string[]>;
}

/** The operations for describing them only: their facts are right, but they cannot be called. */
export function describedOperations(): Operations {
  return createOperations({} as OperationParts);
}

/** Makes every operation. */
export function createOperations(parts: OperationParts) {
  const known = Object.entries(ofContexts(parts)).map(([name, operation]) =>
    [name, ofKnownContext(operation as Operation<unknown>, parts)] as const
  );
  return {
    ...Object.fromEntries(known) as unknown as ReturnType<typeof ofContexts>,
    health: healthOperation({ ...parts, isOpen: () => parts.intake.open }),
    listRuns: listRunsOperation(parts),
    getRun: getRunOperation(parts),
    runPolls: runPollsOperation(parts),
    // The context need not exist: the question is whether a deployment would be allowed.
    syncWindows: syncWindowsOperation(parts),
    // The context of a stack to forget does not exist.
    forget: forgetOperation(parts),
  };
}

/** The operations on one existing context. */
function ofContexts(parts: OperationParts) {
  return {
    listDeployments: listDeploymentsOperation(parts),
    getDeployment: getDeploymentOperation(parts),
    listReleases: listReleasesOperation(parts),
    listDecisions: listDecisionsOperation(parts),
    diffReleases: diffReleasesOperation(parts),
    unpin: unpinOperation(parts),
    adopt: adoptOperation(parts),
    hold: holdOperation(parts),
    resume: resumeOperation(parts),
    rollBack: rollBackOperation(parts),
    planStack: planStackOperation(parts),
    applyStack: applyStackOperation(parts),
    retryStack: retryStackOperation(parts),
    listJobs: listJobsOperation(parts),
    runJob: runJobOperation(parts),
    compactMirrors: compactMirrorsOperation(parts),
    listProjects: listProjectsOperation(parts),
    getProject: getProjectOperation(parts),
    controlProject: controlProjectOperation(parts),
    recreateProject: recreateProjectOperation(parts),
    destroyProject: removeProjectOperation(parts),
    listStacks: listStacksOperation(parts),
    getStack: getStackOperation(parts),
    controlStack: controlStackOperation(parts),
    removeStack: removeStackOperation(parts),
  };
}
