import * as z from "zod";
import { type Operation, type Operations, type RunResult, STACK_STATES } from "../api/mod.ts";
import { boolean, choice, positiveInteger, text } from "./query.ts";
import { type OperationRoute, operationRoute, type RouteTable } from "./route.ts";
import { runAnswer } from "./run_answer.ts";

const runContent = z.string().describe("One sentence on what came of it.");
const RUN_SUCCESS = {
  200: "With `wait`: done, whether or not anything had to change.",
  202: "Started; with `wait`, the stack is held, paused or deferred by a sync window.",
};

/** The routes about deployed stacks. */
export function deploymentRoutes(operations: Operations): OperationRoute[] {
  return [
    operationRoute("GET /v1/api/deployments", operations.listDeployments, {
      query: {
        state: choice("deployment state", STACK_STATES),
        query: text,
        limit: positiveInteger,
        after: text,
        context: text,
      },
      success: { 200: "A page of stacks, sorted by name." },
      failure: () => "failed to get deployments",
    }),
    ...lookingRoutes(operations),
    ...actingRoutes(operations),
  ];
}

/** A route on one stack, whose failures say what could not be done to it. */
function stackRoute<Output>(
  [method, path, doing]: readonly ["GET" | "POST", path: string, doing: string],
  operation: Operation<Output>,
  { query, ...more }: RouteTable<Output>,
): OperationRoute {
  return operationRoute(`${method} /v1/api/deployment/{name}${path}`, operation, {
    params: { name: "name" },
    query: { ...query, context: text },
    failure: () => `failed to ${doing}`,
    ...more,
  });
}

/** A route that starts a run about one stack. */
function runRoute(
  path: string,
  doing: string,
  operation: Operation<RunResult>,
  bodyFields?: readonly string[],
): OperationRoute {
  return stackRoute(["POST", path, doing], operation, {
    query: { wait: boolean },
    ...(bodyFields === undefined ? {} : { bodyFields }),
    success: RUN_SUCCESS,
    refusals: [500, 503],
    content: runContent,
    answer: runAnswer,
  });
}

function lookingRoutes({ getDeployment, listReleases, listDecisions, diffReleases }: Operations) {
  const page = { limit: positiveInteger, before: positiveInteger };
  return [
    stackRoute(["GET", "", "get deployment"], getDeployment, { success: { 200: "The stack." } }),
    stackRoute(["GET", "/releases", "get releases"], listReleases, {
      query: page,
      success: { 200: "A page of releases, newest first." },
    }),
    stackRoute(["GET", "/decisions", "get decisions"], listDecisions, {
      query: page,
      success: { 200: "A page of decisions, newest first." },
    }),
    stackRoute(["GET", "/diff", "compare releases"], diffReleases, {
      query: {
        from: positiveInteger,
        to: positiveInteger,
        limit: positiveInteger,
        after: positiveInteger,
      },
      success: { 200: "A page of the unified diff; empty when they are equal." },
    }),
  ];
}

function actingRoutes({ adopt, forget, unpin, hold, resume, ...operations }: Operations) {
  return [
    stackRoute(["POST", "/adopt", "hand over deployment"], adopt, {
      bodyFields: ["source", "reference", "releases_of", "also"],
      success: { 200: "Handed over; its next deployment takes over what there is." },
    }),
    stackRoute(["POST", "/forget", "forget deployment"], forget, {
      success: { 200: "Forgotten; what is on the engine was left alone." },
    }),
    stackRoute(["POST", "/plan", "plan deployment"], operations.planStack, {
      success: { 200: "What would be done." },
    }),
    runRoute("/apply", "deploy", operations.applyStack, ["plan_id"]),
    runRoute("/retry", "deploy", operations.retryStack),
    runRoute("/rollback", "roll back deployment", operations.rollBack, ["release", "reason"]),
    stackRoute(["POST", "/hold", "hold deployment"], hold, {
      bodyFields: ["reason", "until"],
      success: { 200: "Held; an earlier hold is replaced." },
    }),
    stackRoute(["POST", "/resume", "resume deployment"], resume, {
      success: { 200: "It follows its source; `resumed` says whether anything held it." },
    }),
    stackRoute(["POST", "/unpin", "unpin deployment"], unpin, {
      success: { 200: "It follows its reference; `unpinned` says whether it did not before." },
    }),
  ];
}
