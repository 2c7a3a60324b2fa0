import * as z from "zod";
import { readJobLabels } from "../config/mod.ts";
import {
  beginning,
  endOfOutput,
  filled,
  formatStackKey,
  isStackwrightError,
  LAST_OUTPUT,
  lastWithin,
  type Run,
} from "../model/mod.ts";
import type { FoundJob } from "../deploy/mod.ts";
import type { RunStore } from "../record/mod.ts";
import { createPauses, type TimeFormat } from "../system/mod.ts";
import { endOf, lastJobRuns } from "./job_runs.ts";
import { timestamp } from "./stack_parts.ts";
import type { Seen } from "./what_runs.ts";

/** A scheduled job of a stack, with its last run that ended. */
export interface StackJob {
  readonly service: string;
  readonly schedule: string;
  readonly lastRun?: {
    readonly id: string;
    readonly status: "succeeded" | "failed";
    readonly endedAt: Date;
    readonly message: string;
  };
  readonly nextRunAt?: Date;
}

/** A scheduled job of a stack in an answer. */
export const stackJobView = z.strictObject({
  service: z.string(),
  schedule: z.string(),
  last_run: z.strictObject({
    job_id: z.string(),
    status: z.enum(["succeeded", "failed"]),
    ended_at: timestamp,
    message: z.string().describe("In a list, of what it printed only the last line."),
  }).optional().describe("The last run that ended, while it is known: for a week."),
  next_run_at: timestamp.optional().describe(
    "By its schedule; absent for `@every`, which counts from the run before.",
  ),
});

/** See {@link stackJobView}. */
export type StackJobView = z.output<typeof stackJobView>;

/** Jobs of a stack that are told of, and characters of what each said; of one stack, and in a list. */
const TOLD = { jobs: 100, message: 2000, output: 1000 } as const;
const LISTED = { jobs: 20, message: 300 } as const;
/** Characters of other texts that take as long as reading a schedule. */
const A_SCHEDULE = 8 * 1024;

interface JobFacts {
  readonly runs: Pick<RunStore, "list">;
  readonly nextRun?: ((schedule: string) => Date | undefined) | undefined;
}

/**
 * The enabled jobs of the stacks that were seen, by formatted key: all of the stack with the name
 * `only`, otherwise those whose last run failed.
 */
export async function stackJobs(
  observed: ReadonlyMap<string, Seen>,
  { runs, nextRun }: JobFacts,
  only: string | undefined,
): Promise<ReadonlyMap<string, readonly StackJob[]>> {
  const most = only === undefined ? LISTED : TOLD;
  const cut = only === undefined ? endOfOutput : withEnd;
  const lastRunOf = lastRuns(runs, (message) => beginning(cut(message), most.message));
  const all = [...observed.values()].flatMap((seen) =>
    typeof seen === "object" && "jobs" in seen ? seen.jobs : []
  );
  const jobs = new Map<string, StackJob[]>();
  const pauses = createPauses();
  for (const found of all) {
    const name = formatStackKey(found.key);
    const others = jobs.get(name) ?? [];
    const lastRun = lastRunOf(found);
    const isAsked = only === undefined ? lastRun?.status === "failed" : found.key.name === only;
    const schedule = isAsked && others.length < most.jobs ? scheduleOf(found) : undefined;
    if (schedule === undefined) continue;
    const nextRunAt = nextRun && nextOf(schedule, nextRun);
    const job = { service: found.service, schedule };
    jobs.set(name, [...others, {
      ...job,
      ...lastRun && { lastRun },
      ...nextRunAt && { nextRunAt },
    }]);
    await pauses.after(A_SCHEDULE);
  }
  return jobs;
}

/** Shows a job of a stack. */
export function viewStackJob(
  { service, schedule, lastRun, nextRunAt }: StackJob,
  time: TimeFormat,
): StackJobView {
  return {
    ...{ service, schedule },
    ...filled({
      last_run: lastRun && {
        ...{ job_id: lastRun.id, status: lastRun.status },
        ...{ ended_at: time(lastRun.endedAt), message: lastRun.message },
      },
      next_run_at: nextRunAt && time(nextRunAt),
    }),
  };
}

/** The next time of a schedule. None where it counts from the run before: only the service knows that. */
function nextOf(schedule: string, nextRun: (schedule: string) => Date | undefined) {
  if (schedule.includes("@every")) return undefined;
  try {
    return nextRun(schedule);
  } catch (error) {
    // Made by hand: the deployment of such a job fails.
    if (!isStackwrightError(error, "bad_request")) throw error;
    return undefined;
  }
}

/** The schedule of a job that is run; none for one that is not enabled, or whose labels are wrong. */
function scheduleOf({ key, service, container }: FoundJob): string | undefined {
  try {
    const spec = readJobLabels(container.labels, { project: key.name, service });
    return spec?.enabled === true ? spec.schedule : undefined;
  } catch (error) {
    if (!isStackwrightError(error, "config_invalid")) throw error;
    return undefined;
  }
}

/** A message with the last lines of what a container printed: they say why it failed. */
function withEnd(message: string): string {
  const [said = "", ...printed] = message.split(LAST_OUTPUT);
  const output = lastWithin(printed.join(LAST_OUTPUT), TOLD.output);
  return output === "" ? said : said + LAST_OUTPUT + output;
}

/** Makes a function that finds the last run of a job that ended. */
function lastRuns(
  runs: Pick<RunStore, "list">,
  cut: (message: string) => string,
): (job: FoundJob) => StackJob["lastRun"] {
  const hasEnded = ({ status }: Run) => status === "succeeded" || status === "failed";
  const lastRunOf = lastJobRuns(runs, hasEnded);
  return ({ key, container }) => {
    const run = endOf(lastRunOf(key, container.name), container);
    if (run?.status !== "succeeded" && run?.status !== "failed") return undefined;
    const { id, status, finishedAt, updatedAt, targets: [target] } = run;
    const message = cut(target?.message ?? run.message);
    return { id, status, endedAt: finishedAt ?? updatedAt, message };
  };
}
