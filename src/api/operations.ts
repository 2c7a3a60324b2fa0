import type { Projects } from "../deploy/mod.ts";
import type { Intake } from "../intake.ts";
import type { RunStore } from "../record/mod.ts";
import type { Clock } from "../system/mod.ts";
import { type AdoptionView, adoptOperation } from "./adopt.ts";
import {
  type CompactionParts,
  type CompactionView,
  compactMirrorsOperation,
} from "./compact_mirrors.ts";
import {
  type DeploymentParts,
  type DeploymentsView,
  listDeploymentsOperation,
} from "./deployments.ts";
import { diffReleasesOperation, type DiffView } from "./diff_releases.ts";
import { type DeploymentDetail, getDeploymentOperation } from "./get_deployment.ts";
import { healthOperation, type HealthView } from "./health.ts";
import { holdOperation, type HoldView, resumeOperation, type ResumeView } from "./hold.ts";
import {
  type JobOperationParts,
  type JobView,
  listJobsOperation,
  runJobOperation,
} from "./jobs.ts";
import { type DecisionsView, listDecisionsOperation } from "./list_decisions.ts";
import { listReleasesOperation, type ReleasesView } from "./list_releases.ts";
import {
  type ContainerView,
  controlProjectOperation,
  getProjectOperation,
  listProjectsOperation,
  type ProjectView,
  recreateProjectOperation,
  removeProjectOperation,
} from "./projects.ts";
import { ofKnownContext } from "./context.ts";
import type { Operation } from "./operation.ts";
import { rollBackOperation, type RollbackResult } from "./roll_back.ts";
import { type ParsePollRequest, runPollsOperation } from "./run_polls.ts";
import type { RunResult } from "./run_work.ts";
import type { RunView } from "./run_view.ts";
import { getRunOperation, listRunsOperation } from "./runs.ts";
import type { StackParts } from "./stack_parts.ts";
import {
  applyStackOperation,
  planStackOperation,
  type PlanView,
  retryStackOperation,
  type SyncStackParts,
} from "./sync_stack.ts";
import {
  controlStackOperation,
  getStackOperation,
  listStacksOperation,
  removeStackOperation,
  type StackActionView,
  type StackOperationParts,
  type StackServiceView,
} from "./stacks.ts";
import {
  type SyncWindowParts,
  syncWindowsOperation,
  type SyncWindowsView,
} from "./sync_windows.ts";
import { unpinOperation, type UnpinView } from "./unpin.ts";

/** Everything that clients can ask for. */
export interface Operations {
  readonly health: Operation<HealthView>;
  readonly listDeployments: Operation<DeploymentsView>;
  readonly getDeployment: Operation<DeploymentDetail>;
  readonly listReleases: Operation<ReleasesView>;
  readonly listDecisions: Operation<DecisionsView>;
  readonly diffReleases: Operation<DiffView>;
  readonly unpin: Operation<UnpinView>;
  readonly adopt: Operation<AdoptionView>;
  readonly hold: Operation<HoldView>;
  readonly resume: Operation<ResumeView>;
  readonly rollBack: Operation<RollbackResult>;
  readonly planStack: Operation<PlanView>;
  readonly applyStack: Operation<RunResult>;
  readonly retryStack: Operation<RunResult>;
  readonly listRuns: Operation<RunView[]>;
  readonly getRun: Operation<RunView>;
  readonly runPolls: Operation<RunResult>;
  readonly syncWindows: Operation<SyncWindowsView>;
  readonly listJobs: Operation<JobView[]>;
  readonly runJob: Operation<RunResult>;
  readonly compactMirrors: Operation<CompactionView>;
  readonly listProjects: Operation<ProjectView[]>;
  readonly getProject: Operation<ContainerView[]>;
  readonly controlProject: Operation<string>;
  readonly recreateProject: Operation<string>;
  readonly destroyProject: Operation<string>;
  readonly listStacks: Operation<Record<string, StackServiceView[]>>;
  readonly getStack: Operation<StackServiceView[]>;
  readonly controlStack: Operation<StackActionView>;
  readonly removeStack: Operation<string>;
}

/** Parts of all operations. */
export interface OperationParts
  extends DeploymentParts, StackParts, SyncStackParts, SyncWindowParts {
  readonly intake: Intake;
  readonly runs: RunStore;
  readonly jobs: JobOperationParts["jobs"];
  /** Names of the contexts there are, and of those that have stacks. */
  readonly contexts: () => Promise<readonly string[]>;
  /** Proves that the container engine answers; throws when it does not. */
  readonly checkEngine: (signal: AbortSignal) => Promise<unknown>;
  readonly mirrors: CompactionParts["mirrors"];
  readonly projects: Projects;
  readonly stacks: StackOperationParts["stacks"];
  readonly parsePollRequest: ParsePollRequest;
  readonly clock: Clock;
  /** IANA zone of the timestamps clients see. */
  readonly timeZone: string;
}

/**
 * The operations for those who only want to know what there is: every fact of them is right, and
 * none can be called.
 */
export function describedOperations(): Operations {
  return createOperations({} as OperationParts);
}

/** Makes every operation. */
export function createOperations(parts: OperationParts): Operations {
  const known = Object.entries(ofContexts(parts)).map(([name, operation]) =>
    [name, ofKnownContext(operation as Operation<unknown>, () => parts.contexts())] as const
  );
  return {
    ...Object.fromEntries(known) as unknown as ReturnType<typeof ofContexts>,
    health: healthOperation({ ...parts, isOpen: () => parts.intake.open }),
    listRuns: listRunsOperation(parts),
    getRun: getRunOperation(parts),
    runPolls: runPollsOperation(parts),
    // Whether something might be deployed is asked of contexts that are yet to come, too.
    syncWindows: syncWindowsOperation(parts),
  };
}

/** Those that are about one context. */
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
