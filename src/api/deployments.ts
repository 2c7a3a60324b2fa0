import { filled, stackKey, toldFailures } from "../model/mod.ts";
import * as z from "zod";
import type { Ledger, RecordedRelease } from "../record/mod.ts";
import { STACK_HEALTHS, STACK_STATES } from "../plan/mod.ts";
import { type Clock, contains, createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { contextInput } from "./context.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { sourceFailureView, viewSourceFailure } from "./source_failures.ts";
import { stackJobView, viewStackJob } from "./stack_jobs.ts";
import { timestamp } from "./stack_parts.ts";
import type { StackScope } from "./recorded_facts.ts";
import type { StackStatus } from "./stack_statuses.ts";

/** Default number of deployments of a page. */
const DEFAULT_DEPLOYMENT_LIMIT = 100;
/** Most deployments of a page; greater limits count as this one. */
const MOST_DEPLOYMENTS = 500;
/** Most sources that cannot be read of a page. */
const MOST_SOURCES = 50;

/** One stack in an answer; unknown fields are absent. */
export const deploymentView = z.strictObject({
  name: z.string(),
  context: z.string().describe("Container context; `default` for the default one."),
  state: z.enum(STACK_STATES).describe(
    "synced: what runs is what the source says, as far as it was looked at. held: a person holds it " +
      "back. orphaned: nothing names it any more, or another context of its engine has it. waiting: " +
      "for a sync window or a running job. drifted: what runs is not what was deployed.",
  ),
  why: z.string().describe("One sentence."),
  drifted: z.string().optional().describe(
    "Of a held stack: how what runs differs from what was deployed.",
  ),
  health: z.enum(STACK_HEALTHS).describe(
    "Its containers, taken together. finished: all of them ended with 0, as they may, or it has " +
      "only jobs and services without replicas, of which none runs now.",
  ),
  running: z.int().optional().describe(
    "Containers that run, and are not unhealthy; absent while the engine does not answer.",
  ),
  finished: z.int().optional().describe(
    "Further containers that ended with 0, as they may; absent as `running` is.",
  ),
  wanted: z.int().describe("Containers that the release wants, with those that have finished."),
  release: z.strictObject({
    number: z.int(),
    repository: z.string(),
    reference: z.string(),
    revision: z.string(),
    deployed_at: timestamp,
  }).optional().describe("What is deployed."),
  looked_at: timestamp.optional().describe("When it was last decided about."),
  revision: z.string().optional().describe("`reference (id)` that was looked at then."),
  rolled_back: z.int().optional().describe(
    "Number of the newest release, where that failed and `release` was put back.",
  ),
  retry_at: timestamp.optional().describe("When a failed release is tried again by itself."),
  source_failure: sourceFailureView.optional().describe(
    "Present while its source cannot be read: the stack stays as it is, whatever its state.",
  ),
  jobs: z.array(stackJobView).optional().describe(
    "Its scheduled jobs; in a list only those whose last run failed, which changes no state.",
  ),
  drift: z.array(z.strictObject({
    service: z.string(),
    container: z.string().optional(),
    field: z.string().describe("As compose calls it: `mem_limit`, `network shop_default`."),
    wanted: z.string(),
    found: z.string(),
  })).optional().describe(
    "What was changed by hand: one entry for each field; in a list the first 20 of a stack.",
  ),
});

/** A page of stacks. */
const deploymentsView = z.strictObject({
  deployments: z.array(deploymentView),
  counts: z.strictObject(
    Object.fromEntries(STACK_STATES.map((state) => [state, z.int()])) as Record<
      (typeof STACK_STATES)[number],
      z.ZodInt
    >,
  ).describe("Stacks in each state, of all that the filters but `state` let through."),
  next: z.string().optional().describe("`after` of the next page, when there is one."),
  failed_sources: z.array(sourceFailureView).optional().describe(
    `Sources that cannot be read, also those that no stack was deployed from: the newest ${MOST_SOURCES}, on the first page.`,
  ),
});

type DeploymentsView = z.output<typeof deploymentsView>;
/** See {@link deploymentView}. */
export type DeploymentView = z.output<typeof deploymentView>;

/** Parts of the operation on deployments. */
export interface DeploymentParts {
  /** The status of every stack in a scope, sorted by name; may tell of others, too. */
  readonly deployments: (signal: AbortSignal, scope: StackScope) => Promise<readonly StackStatus[]>;
  /** IANA zone of the timestamps. */
  readonly timeZone: string;
}

const input = z.strictObject({
  state: z.enum(STACK_STATES).optional().describe("Only those in this state."),
  query: z.string().optional().describe(
    "Only those whose name, repository, reference or sentence contains this, in any case.",
  ),
  limit: z.int().min(1).default(DEFAULT_DEPLOYMENT_LIMIT)
    .describe(`At most ${MOST_DEPLOYMENTS} are listed.`),
  after: z.string().optional().describe("Name of the last one of the page before: its `next`."),
  context: contextInput,
});

type FailingLedger = Pick<Ledger, "sources" | "deployedStacks">;

/** Lists the stacks that Stackwright manages, with their states and the reasons for them. */
export function listDeploymentsOperation(
  parts: DeploymentParts & { readonly ledger: FailingLedger; readonly clock: Clock },
): Operation<DeploymentsView> {
  const time = createTimeFormat(parts.timeZone);
  return defineOperation({
    id: "listDeployments",
    summary: "List the deployed stacks: state, reason, release, health.",
    tag: "Deployments",
    power: "read",
    input,
    output: deploymentsView,
    errors: ["bad_request"],
  }, async (asked, { signal }) => {
    const { context } = stackKey(asked.context, "");
    const all = (await parts.deployments(signal, { context }))
      .filter(({ key }) => key.context === context)
      .map((each) => viewDeployment(each, time))
      .filter((each) => isFound(each, asked.query));
    const failed = asked.after === undefined
      ? failedSources(parts.ledger, parts.clock.now()).slice(0, MOST_SOURCES)
      : [];
    const shown = failed.map((each) => viewSourceFailure(each, time));
    return { ...pageOf(all, asked), ...filled({ failed_sources: shown }) };
  });
}

function failedSources({ sources, deployedStacks }: FailingLedger, now: Date) {
  return toldFailures(sources.all(now), deployedStacks().map(({ place }) => place), now);
}

function pageOf(
  all: readonly DeploymentView[],
  { state, limit, after }: z.output<typeof input>,
): DeploymentsView {
  const counts = Object.fromEntries(
    STACK_STATES.map((each) => [each, all.filter((view) => view.state === each).length]),
  ) as DeploymentsView["counts"];
  const wanted = all
    .filter((view) => state === undefined || view.state === state)
    .filter(({ name }) => after === undefined || name > after);
  const deployments = wanted.slice(0, Math.min(limit, MOST_DEPLOYMENTS));
  const last = deployments.at(-1);
  const next = deployments.length < wanted.length && last !== undefined ? { next: last.name } : {};
  return { deployments, counts, ...next };
}

function isFound({ name, why, release }: DeploymentView, query = ""): boolean {
  const texts = [name, why, release?.repository ?? "", release?.reference ?? ""];
  return texts.some((text) => contains(text.toLowerCase(), query.toLowerCase()));
}

/** Shows one stack. */
export function viewDeployment(
  { key, current, decision, retryAt, sourceFailure, ...of }: StackStatus,
  time: TimeFormat,
): DeploymentView {
  const { state, why, drifted, health, running, finished, wanted, rolledBack, jobs, drift } = of;
  return {
    name: key.name,
    context: key.context,
    ...{ state, why, health, wanted },
    ...(decision === undefined ? {} : {
      looked_at: time(decision.lastAt),
      revision: decision.revision,
    }),
    ...filled({
      drifted,
      running,
      finished,
      release: current && viewRelease(current, time),
      rolled_back: rolledBack,
      retry_at: retryAt && time(retryAt),
      source_failure: sourceFailure && viewSourceFailure(sourceFailure, time),
      jobs: jobs.map((each) => viewStackJob(each, time)),
      drift: drift.map(({ container, ...each }) => ({
        ...each,
        ...(container && { container: container.name }),
      })),
    }),
  };
}

function viewRelease(
  { number, revision, createdAt, finishedAt }: RecordedRelease,
  time: TimeFormat,
): NonNullable<DeploymentView["release"]> {
  return {
    number,
    repository: revision.source.name,
    reference: revision.reference,
    revision: revision.id,
    deployed_at: time(finishedAt ?? createdAt),
  };
}
