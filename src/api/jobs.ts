import * as z from "zod";
import type { LabelledJob } from "../config/mod.ts";
import {
  errors,
  filled,
  formatDuration,
  formatPersonStop,
  type ObservedContainer,
  requestError,
  type StackKey,
  stackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { Ledger, RunStore } from "../record/mod.ts";
import { createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { audited } from "./audit.ts";
import { contextInput } from "./context.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { createRunView, runView } from "./run_view.ts";
import {
  type AskedWork,
  type RunResult,
  runResult,
  runWork,
  type RunWorkParts,
  waitInput,
} from "./run_work.ts";
import { endOf, lastJobRuns } from "./job_runs.ts";
import { timestamp } from "./stack_parts.ts";

/** A service with the labels of a job, and facts about its runs. */
export interface JobFacts extends LabelledJob {
  readonly status: string;
  /** The container that represents the service. */
  readonly container: Pick<ObservedContainer, "state" | "exitCode">;
  /** Reads what the container printed last, masked, to end a sentence with. */
  readonly printed?: (signal: AbortSignal) => Promise<string>;
  readonly repository: string;
  readonly lastRunAt?: Date;
  readonly nextRunAt?: Date;
}

/** Ports for the operations on jobs. */
export interface JobOperationParts extends RunWorkParts {
  /** The jobs of a context, sorted by stack and name. */
  readonly jobs: (context: string, signal: AbortSignal) => Promise<readonly JobFacts[]>;
  readonly runs: Pick<RunStore, "list">;
  readonly ledger: Ledger;
}

/** A scheduled job in an answer; empty or unknown fields are absent. */
export const jobView = z.strictObject({
  name: z.string().describe("Name of the container, or of the service in a swarm."),
  context: z.string(),
  enabled: z.boolean(),
  stack: z.string().optional(),
  mode: z.enum(["container", "swarm"]),
  schedule: z.string().optional(),
  execution_mode: z.enum(["restart", "one_off"]).optional(),
  skip_running: z.boolean(),
  notify_on: z.enum(["all", "none", "success", "failure"]).optional(),
  replicas: z.int().optional().describe("Tasks of a one-off run in a swarm."),
  stop_services: z.array(z.string()).optional().describe("As `project/service`."),
  max_duration: z.string().optional(),
  status: z.string().optional(),
  last_run_at: timestamp.optional(),
  next_run_at: timestamp.optional(),
  repository: z.string().optional(),
  schedule_error: z.string().optional(),
  valid: z.boolean(),
  last_run: runView.nullable().describe(
    "Its last run, while that is known; `failed` too where its container was started, and failed later.",
  ),
});

type JobView = z.output<typeof jobView>;

const listInput = z.strictObject({
  stack: z.string().optional().describe("Only jobs of this stack."),
  context: contextInput,
});

/** Lists the services with the labels of a job. */
export function listJobsOperation(parts: JobOperationParts): Operation<JobView[]> {
  const time = createTimeFormat(parts.timeZone);
  return defineOperation({
    id: "listJobs",
    summary: "List the scheduled jobs.",
    tag: "Jobs",
    power: "read",
    input: listInput,
    output: z.array(jobView),
    errors: ["bad_request"],
  }, async ({ stack, context }, { signal }) => {
    const { context: where } = stackKey(context, "jobs");
    const lastRunOf = lastRuns(parts);
    return (await parts.jobs(where, signal))
      .filter(({ key }) => stack === undefined || key.name === stack)
      .map((job) => ({ ...viewJob(job, time), last_run: lastRunOf(job) }));
  });
}

const runInput = z.strictObject({
  job_name: z.string().min(1).describe(
    "Name of the job's container, or of its service in a swarm.",
  ),
  stack: z.string().optional().describe("Its stack, where several jobs have the name."),
  context: contextInput,
  wait: waitInput,
});

/**
 * Runs a job now. A call throws `not_found` for an unknown name, and `conflict` for a job that is
 * disabled or of a stack that a person stopped, or a name that several jobs have.
 */
export function runJobOperation(parts: JobOperationParts): Operation<RunResult> {
  return defineOperation({
    id: "runJob",
    summary: "Run a scheduled job now.",
    tag: "Jobs",
    power: "act",
    input: runInput,
    output: runResult,
    errors: ["bad_request", "not_found", "conflict", "shutting_down"],
  }, async ({ job_name: name, stack, context, wait }, call) => {
    const { context: where } = stackKey(context, "jobs");
    const isMeant = (job: JobFacts) =>
      job.name === name && (stack === undefined || job.key.name === stack);
    const found = (await parts.jobs(where, call.signal)).filter(isMeant);
    if (found.length === 0) throw await notFound(parts, where, isMeant, call.signal);
    const { key, service } = chosen(found);
    return await audited(call, { action: "run a job of", what: "stack", key }, async () => {
      const stopped = parts.ledger.stops.get(key);
      if (stopped !== undefined) {
        throw errors.conflict(
          `the job was not run: ${formatPersonStop(key, stopped)}; start it first`,
        );
      }
      const result = await runWork(askedJob({ key, service }, wait), parts, call);
      const isComplete = result.outcome === "complete";
      return isComplete ? { ...result, message: "scheduled job triggered" } : result;
    });
  });
}

function askedJob(job: Pick<JobFacts, "key" | "service">, wait: boolean): AskedWork {
  return {
    work: { kind: "job", trigger: "scheduled_job", origin: "manual", ...job },
    wait,
    started: "scheduled job trigger accepted",
    failed: "failed to trigger scheduled job run",
    lane: jobLane(job),
  };
}

/** The lane of a job's runs: one runs, and at most one waits. */
export function jobLane({ key, service }: { readonly key: StackKey; readonly service: string }) {
  return JSON.stringify(["job", key.context, key.name, service]);
}

/** The error for a name that no job of a context has; another context of its engine may have one. */
async function notFound(
  { jobs, ledger }: JobOperationParts,
  context: string,
  isMeant: (job: JobFacts) => boolean,
  signal: AbortSignal,
): Promise<StackwrightError> {
  let message = "no job has this name; they are called as their containers: GET /v1/api/jobs";
  for (const other of ledger.owners.contextsBeside(stackKey(context, ""))) {
    if (!(await jobs(other, signal)).some(isMeant)) continue;
    message =
      `it is of context ${other}, which leads to the same engine: run it there (context=${other})`;
  }
  return requestError("scheduled job not found", message, "not_found");
}

function chosen(found: readonly JobFacts[]): JobFacts {
  const able = found.filter(({ spec, problem }) => problem !== undefined || spec?.enabled === true);
  const [job, another] = able;
  if (job === undefined) throw errors.conflict("scheduled job is disabled");
  if (another === undefined) return job;
  throw errors.conflict("multiple scheduled jobs matched, narrow your selection");
}

/** The last run of a job; `null` when it is not known. */
function lastRuns({ runs, timeZone }: JobOperationParts) {
  const view = createRunView(timeZone);
  const lastRunOf = lastJobRuns(runs);
  return ({ key, name, container }: JobFacts): JobView["last_run"] => {
    const last = endOf(lastRunOf(key, name), container);
    return last === undefined ? null : view(last);
  };
}

function viewJob(
  { key, name, mode, spec, problem, status, repository, lastRunAt, nextRunAt }: JobFacts,
  time: TimeFormat,
): Omit<JobView, "last_run"> {
  const on = spec?.enabled === true ? spec : undefined;
  const stops = on?.stopServices.map((each) => `${each.project}/${each.service}`) ?? [];
  return {
    name,
    context: key.context,
    enabled: problem !== undefined || on !== undefined,
    mode,
    skip_running: on?.skipRunning ?? false,
    valid: problem === undefined,
    ...filled({
      stack: key.name,
      ...(on === undefined ? {} : {
        schedule: on.schedule,
        execution_mode: on.mode,
        notify_on: on.notifyOn,
        replicas: mode === "swarm" && on.mode === "one_off" ? on.swarmReplicas ?? 1 : undefined,
        stop_services: stops,
        max_duration: on.maxSeconds === undefined ? "" : formatDuration(on.maxSeconds),
      }),
      status,
      last_run_at: lastRunAt && time(lastRunAt),
      next_run_at: nextRunAt && time(nextRunAt),
      repository,
      schedule_error: problem,
    }),
  };
}
