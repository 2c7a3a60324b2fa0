import * as z from "zod";
import { isDeepStrictEqual } from "node:util";
import { ERROR_CODES, type SourceRequest } from "../model/mod.ts";
import { type Call, defineOperation, type Operation } from "./operation.ts";
import { serviceView, viewServices } from "./run_view.ts";
import { BY_HAND, type RunResult, runResult, runWork, type RunWorkParts } from "./run_work.ts";
import { outdated, type SyncStackParts } from "./sync_stack.ts";

/** The input that names a source, as the CLI takes it from a checkout. */
const sourceInput = z.strictObject({
  url: z.string().min(1).describe("Clone URL, or path on this machine."),
  identity: z.string().optional().describe("Name of the repository that `url` is a copy of."),
  reference: z.string().min(1),
  target: z.string().default("").describe("Configuration target; empty for the default file."),
});

const stackName = { context: z.string(), name: z.string() };

const plannedStackView = z.strictObject({
  id: z.string().describe("The same while what is wanted and what runs are the same."),
  ...stackName,
  plan: z.strictObject({
    kind: z.enum(["skip", "deploy", "destroy"]),
    reason: z.string().optional().describe("Why nothing would be done."),
    message: z.string(),
    services: z.array(serviceView),
  }),
  before: z.string().describe("The masked model that is deployed; empty when there is none."),
  after: z.string().describe("The masked model that would be."),
});

const unplannedStackView = z.strictObject({
  ...stackName,
  code: z.enum(ERROR_CODES),
  message: z.string(),
  problems: z.array(z.strictObject({
    file: z.string(),
    document: z.int().exactOptional(),
    line: z.int().exactOptional(),
    column: z.int().exactOptional(),
    path: z.string().exactOptional(),
    message: z.string(),
  })).optional(),
});

const sourcePlanView = z.strictObject({
  stacks: z.array(plannedStackView),
  failures: z.array(unplannedStackView),
});

/** The parts of plans that identify them; callers may pass whole plans. */
export const agreedPlans = z.object({
  stacks: z.array(z.object({ id: z.string() })),
  failures: z.array(z.object(stackName)).default([])
    .describe("Stacks that could not be planned: one that can be by now makes it another plan."),
});

/** See {@link sourceInput}. */
export type SourceInput = z.input<typeof sourceInput>;
/** See {@link plannedStackView}. */
export type PlannedStackView = z.output<typeof plannedStackView>;
/** See {@link unplannedStackView}. */
export type UnplannedStackView = z.output<typeof unplannedStackView>;
type SourcePlanView = z.output<typeof sourcePlanView>;
/** See {@link agreedPlans}. */
export type AgreedPlans = z.output<typeof agreedPlans>;

interface PlanPart extends Pick<SyncStackParts, "plan"> {
  /** What is deployed of it; by default the source's own files, at the reference that is asked for. */
  readonly sources?: readonly Pick<SourceRequest, "reference" | "deployments" | "withFiles">[];
}

/**
 * Shows what a deployment of all stacks of a source would change, and changes nothing. A call
 * throws what reading the source and its configuration throws.
 */
export function planSourceOperation(parts: PlanPart): Operation<SourcePlanView> {
  return defineOperation({
    id: "planSource",
    summary: "Show what a deployment of a source would change, and change nothing.",
    tag: "Deployments",
    power: "act",
    input: sourceInput,
    output: sourcePlanView,
    errors: ["bad_request", "not_found", "conflict"],
  }, (input, call) => plansOf(parts, requestsOf(parts, input), call));
}

const applyInput = sourceInput.extend({
  plan: agreedPlans.optional().describe("Only if this is still what would be done."),
});

/** Deploys what a source says now. A call throws `conflict` for plans that are out of date. */
export function applySourceOperation(parts: PlanPart & RunWorkParts): Operation<RunResult> {
  return defineOperation({
    id: "applySource",
    summary: "Deploy what a source says now.",
    tag: "Deployments",
    power: "act",
    input: applyInput,
    output: runResult,
    errors: ["bad_request", "not_found", "conflict", "shutting_down"],
  }, async ({ plan: agreed, ...input }, call) => {
    const sources = requestsOf(parts, input);
    if (agreed !== undefined) {
      const now = idsIn(await plansOf(parts, sources, call));
      if (!isDeepStrictEqual(idsIn(agreed), now)) throw outdated("the plan");
    }
    const work = { kind: "sync", ...BY_HAND, asked: "apply", sources } as const;
    return await runWork({ work, wait: true, started: "deployment started" }, parts, call);
  });
}

function requestsOf(
  { sources }: PlanPart,
  { identity, ...named }: z.output<typeof sourceInput>,
): SourceRequest[] {
  const request = {
    kind: "git",
    ...named,
    ...(identity === undefined ? {} : { identity }),
  } as const;
  return (sources ?? [{ reference: named.reference, deployments: [] }])
    .map((each) => ({ ...request, ...each }));
}

async function plansOf(
  { plan }: PlanPart,
  requests: readonly SourceRequest[],
  { signal }: Call,
): Promise<SourcePlanView> {
  const plans: Awaited<ReturnType<typeof plan>>[] = [];
  for (const each of requests) plans.push(await plan(each, signal));
  const stacks = plans.flatMap((each) => each.stacks);
  const failures = plans.flatMap((each) => each.failures);
  return {
    stacks: stacks.map(({ id, context, name, plan: { services, ...plan }, before, after }) => ({
      ...{ id, context, name, before, after },
      plan: { ...plan, services: viewServices(services) },
    })),
    failures: failures.map(({ context, name, error: { code, message, problems } }) => ({
      ...{ context, name, code, message },
      ...(problems.length === 0 ? {} : { problems: problems.map((each) => ({ ...each })) }),
    })),
  };
}

function idsIn({ stacks, failures }: AgreedPlans): string[] {
  const failed = failures.map(({ context, name }) => `cannot be planned: ${context}/${name}`);
  return [...stacks.map(({ id }) => id), ...failed].sort();
}
