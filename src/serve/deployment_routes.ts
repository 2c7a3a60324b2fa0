import * as z from "zod";
import { type Operations, STACK_STATES } from "../api/mod.ts";
import { boolean, choice, positiveInteger, text } from "./query.ts";
import { type OperationRoute, operationRoute } from "./route.ts";
import { runAnswer } from "./run_answer.ts";

const runContent = z.string().describe("One sentence on what came of it.");
const RUN_SUCCESS = {
  200: "With `wait`: done, whether or not anything had to change.",
  202: "Started; with `wait`, the stack is held, paused or deferred by a sync window.",
};
const PATH = "/v1/api/deployment/{name}";
const PARAMS = { name: "name" };

/** The routes on the stacks that are deployed. */
export function deploymentRoutes(operations: Operations): OperationRoute[] {
  return [
    operationRoute({
      methods: ["GET"],
      path: "/v1/api/deployments",
      operation: operations.listDeployments,
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

function lookingRoutes(
  { getDeployment, listReleases, listDecisions, diffReleases }: Operations,
): OperationRoute[] {
  const page = { limit: positiveInteger, before: positiveInteger, context: text };
  return [
    operationRoute({
      methods: ["GET"],
      path: PATH,
      params: PARAMS,
      operation: getDeployment,
      query: { context: text },
      success: { 200: "The stack." },
      failure: ({ name }) => `failed to get deployment: ${name}`,
    }),
    operationRoute({
      methods: ["GET"],
      path: `${PATH}/releases`,
      params: PARAMS,
      operation: listReleases,
      query: page,
      success: { 200: "A page of releases, newest first." },
      failure: ({ name }) => `failed to get releases: ${name}`,
    }),
    operationRoute({
      methods: ["GET"],
      path: `${PATH}/decisions`,
      params: PARAMS,
      operation: listDecisions,
      query: page,
      success: { 200: "A page of decisions, newest first." },
      failure: ({ name }) => `failed to get decisions: ${name}`,
    }),
    operationRoute({
      methods: ["GET"],
      path: `${PATH}/diff`,
      params: PARAMS,
      operation: diffReleases,
      query: {
        from: positiveInteger,
        to: positiveInteger,
        limit: positiveInteger,
        after: positiveInteger,
        context: text,
      },
      success: { 200: "A page of the unified diff; empty when they are equal." },
      failure: ({ name }) => `failed to compare releases: ${name}`,
    }),
  ];
}

function actingRoutes(
  { adopt, unpin, hold, resume, ...operations }: Operations,
): OperationRoute[] {
  return [
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/adopt`,
      params: PARAMS,
      operation: adopt,
      query: { context: text },
      bodyFields: ["source", "reference"],
      success: { 200: "Handed over; its next deployment takes over what there is." },
      failure: ({ name }) => `failed to hand over deployment: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/plan`,
      params: PARAMS,
      operation: operations.planStack,
      query: { context: text },
      success: { 200: "What would be done." },
      failure: ({ name }) => `failed to plan deployment: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/apply`,
      params: PARAMS,
      operation: operations.applyStack,
      query: { wait: boolean, context: text },
      bodyFields: ["plan_id"],
      success: RUN_SUCCESS,
      refusals: [500, 503],
      content: runContent,
      answer: runAnswer,
      failure: ({ name }) => `failed to deploy: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/retry`,
      params: PARAMS,
      operation: operations.retryStack,
      query: { wait: boolean, context: text },
      success: RUN_SUCCESS,
      refusals: [500, 503],
      content: runContent,
      answer: runAnswer,
      failure: ({ name }) => `failed to deploy: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/rollback`,
      params: PARAMS,
      operation: operations.rollBack,
      query: { wait: boolean, context: text },
      bodyFields: ["release", "reason"],
      success: RUN_SUCCESS,
      refusals: [500, 503],
      content: runContent,
      answer: runAnswer,
      failure: ({ name }) => `failed to roll back deployment: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/hold`,
      params: PARAMS,
      operation: hold,
      query: { context: text },
      bodyFields: ["reason", "until"],
      success: { 200: "Held; an earlier hold is replaced." },
      failure: ({ name }) => `failed to hold deployment: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/resume`,
      params: PARAMS,
      operation: resume,
      query: { context: text },
      success: { 200: "It follows its source; `resumed` says whether anything held it." },
      failure: ({ name }) => `failed to resume deployment: ${name}`,
    }),
    operationRoute({
      methods: ["POST"],
      path: `${PATH}/unpin`,
      params: PARAMS,
      operation: unpin,
      query: { context: text },
      success: { 200: "It follows its reference; `unpinned` says whether it did not before." },
      failure: ({ name }) => `failed to unpin deployment: ${name}`,
    }),
  ];
}
