import * as z from "zod";
import {
  type CompactionView,
  type HealthView,
  MOST_TIMEOUT_SECONDS,
  type Operations,
  PROJECT_ACTIONS,
  runView,
  STACK_ACTIONS,
} from "../api/mod.ts";
import { COMPACTION_MODES, requestError, RUN_STATUSES, TRIGGERS } from "../model/mod.ts";
import { deploymentRoutes } from "./deployment_routes.ts";
import type { Answer } from "./envelope.ts";
import { boolean, choice, positiveInteger, replicas, seconds, text } from "./query.ts";
import { type OperationRoute, operationRoute } from "./route.ts";
import { runAnswer } from "./run_answer.ts";

/** The REST interface as a table over the operations. */
export function restRoutes(operations: Operations): OperationRoute[] {
  return [
    operationRoute("GET|HEAD /v1/health", operations.health, {
      access: "public",
      plain: true,
      success: { 200: "Healthy.", 503: "Unhealthy; `error` says why." },
      answer: healthAnswer,
    }),
    ...deploymentRoutes(operations),
    ...runRoutes(operations),
    ...projectRoutes(operations),
    ...stackRoutes(operations),
    ...jobRoutes(operations),
    operationRoute("POST /v1/api/storage/compact", operations.compactMirrors, {
      query: { repository: text, mode: compactionMode, max_size: maxSize, wait: boolean },
      success: { 200: "With `wait`: done, or nothing was to be done.", 202: "Started." },
      refusals: [500, 503],
      content: z.union([z.string(), runView]).describe("The run with `wait`, else one sentence."),
      answer: compactionAnswer,
    }),
    operationRoute("GET /v1/api/sync-windows", operations.syncWindows, {
      query: { repository: text, deployment: text, context: text, origin },
      success: { 200: "The windows, and the decision where something was named." },
    }),
    operationRoute("POST /v1/api/poll/run", operations.runPolls, {
      query: { wait: boolean },
      body: "configs",
      success: {
        200: "With `wait`: done, whether or not anything had changed.",
        202: "Started; with `wait`, every deployment is paused or deferred by a sync window.",
      },
      refusals: [500, 503],
      content: z.string().describe("One sentence on what came of it."),
      answer: runAnswer,
    }),
  ];
}

function runRoutes({ listRuns, getRun }: Operations): OperationRoute[] {
  return [
    operationRoute("GET /v1/api/runs", listRuns, {
      query: {
        limit: positiveInteger,
        status: choice("deployment run status", RUN_STATUSES),
        trigger: choice("deployment run trigger", TRIGGERS),
      },
      success: { 200: "Runs, newest first." },
    }),
    operationRoute("GET /v1/api/run/{jobID}", getRun, {
      params: { jobID: "job_id" },
      success: { 200: "The run." },
      answer: (run) => ({ kind: "content", status: 200, content: run, jobId: run.job_id }),
    }),
  ];
}

function jobRoutes({ listJobs, runJob }: Operations): OperationRoute[] {
  return [
    operationRoute("GET /v1/api/jobs", listJobs, {
      query: { stack: text, context: text },
      success: { 200: "Jobs, sorted by stack and name." },
      failure: () => "failed to list scheduled jobs",
    }),
    operationRoute("POST /v1/api/job/{jobName}/run", runJob, {
      params: { jobName: "job_name" },
      query: { stack: text, context: text, wait: boolean },
      success: { 200: "With `wait`: it has run.", 202: "Accepted." },
      refusals: [500, 503],
      content: z.string().describe("One sentence on what came of it."),
      answer: runAnswer,
    }),
  ];
}

function projectRoutes(
  { listProjects, getProject, controlProject, recreateProject, destroyProject }: Operations,
): OperationRoute[] {
  const path = "/v1/api/project/{projectName}";
  const params = { projectName: "project_name" };
  return [
    operationRoute("GET /v1/api/projects", listProjects, {
      query: { all: boolean, context: text },
      success: { 200: "Projects, sorted by name." },
      failure: () => "failed to get projects",
    }),
    operationRoute(`GET ${path}`, getProject, {
      params,
      query: { context: text },
      success: { 200: "Its containers, sorted by name." },
      failure: () => "failed to get project",
    }),
    operationRoute(`DELETE ${path}`, destroyProject, {
      params,
      query: {
        volumes: boolean,
        images: boolean,
        timeout: seconds(MOST_TIMEOUT_SECONDS),
        context: text,
      },
      success: { 200: "Removed." },
      failure: () => "failed to remove project",
    }),
    operationRoute(`POST ${path}/recreate`, recreateProject, {
      params,
      query: { service: text, timeout: seconds(MOST_TIMEOUT_SECONDS), context: text },
      success: { 200: "Done; all of it is healthy." },
      failure: () => "failed to recreate project",
    }),
    operationRoute(`POST ${path}/{action}`, controlProject, {
      params: { ...params, action: "action" },
      checkParams: requireOneOf([...PROJECT_ACTIONS, "recreate"]),
      query: { timeout: seconds(MOST_TIMEOUT_SECONDS), context: text },
      success: { 200: "Done; after start and restart all of it is healthy." },
      failure: (input) => `failed to ${input["action"]} project`,
    }),
  ];
}

function stackRoutes({ listStacks, getStack, controlStack, removeStack }: Operations) {
  const path = "/v1/api/stack/{stackName}";
  const params = { stackName: "stack_name" };
  const timeout = seconds(MOST_TIMEOUT_SECONDS, "stack");
  return [
    operationRoute("GET /v1/api/stacks", listStacks, {
      query: { context: text },
      success: { 200: "The services of each stack, sorted by name." },
      failure: () => "failed to get stacks",
    }),
    operationRoute(`GET ${path}`, getStack, {
      params,
      query: { context: text },
      success: { 200: "Its services, sorted by name." },
      failure: () => "failed to get stack",
    }),
    operationRoute(`DELETE ${path}`, removeStack, {
      params,
      query: { timeout, context: text },
      success: { 200: "Removed." },
      failure: () => "failed to remove stack",
    }),
    operationRoute(`POST ${path}/{action}`, controlStack, {
      params: { ...params, action: "action" },
      checkParams: requireOneOf(STACK_ACTIONS),
      query: { service: text, replicas, wait: boolean, timeout, context: text },
      success: { 200: "Done; a restart and a run as soon as the engine took them." },
      failure: ({ action }) =>
        action === "run" ? "failed to retrigger job service" : `failed to ${action} service`,
      content: z.string().describe("One sentence on what was done."),
      answer: ({ message }) => ({ kind: "content", status: 200, content: message }),
    }),
  ];
}

function compactionMode(query: URLSearchParams, name: string): string | undefined {
  const given = (query.get(name) ?? "").trim().toLowerCase();
  if (given === "") return undefined;
  if (COMPACTION_MODES.some((each) => each === given)) return given;
  throw requestError(
    'invalid mirror compaction request: unknown mode, want "repack" or "copy"',
    "see the parameter mode",
  );
}

function maxSize(query: URLSearchParams, name: string): number | undefined {
  const given = (query.get(name) ?? "").trim();
  if (given === "") return undefined;
  if (!/^[+-]?\d+$/.test(given) || !Number.isSafeInteger(Number(given))) {
    throw requestError(`invalid parameter: ${name}`, `'${name}' parameter must be an integer`);
  }
  if (Number(given) >= 0) return Number(given);
  throw requestError("invalid mirror compaction request: max size is negative", "0 is no limit");
}

/** Shows a run that was waited for; a refusal names the run that kept this one from starting. */
function compactionAnswer({ busy, ...result }: CompactionView): Answer {
  const jobId = result.run.job_id;
  if (busy) return { kind: "refusal", refusal: { status: 409, error: result.message }, jobId };
  return result.outcome === "complete"
    ? { kind: "content", status: 200, content: result.run, jobId }
    : runAnswer(result);
}

/** The parameter `origin`; the error has the text of doco-cd. */
function origin(query: URLSearchParams, name: string): string | undefined {
  const given = (query.get(name) ?? "").trim().toLowerCase();
  if (given === "") return undefined;
  if (given === "automatic" || given === "manual") return given;
  throw requestError("invalid origin", "origin must be automatic or manual");
}

/** Refuses unknown actions as a bad request instead of an unknown path. */
function requireOneOf(actions: readonly string[]) {
  return ({ action = "" }: Readonly<Record<string, string>>): void => {
    if (actions.includes(action)) return;
    throw requestError("invalid action", `action not supported: use one of ${actions.join(", ")}`);
  };
}

function healthAnswer(health: HealthView): Answer {
  return { kind: "plain", status: health.details === "healthy" ? 200 : 503, body: health };
}
