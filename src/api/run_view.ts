import * as z from "zod";
import { filled, type Run, RUN_STATUSES, type RunTarget, TRIGGERS } from "../model/mod.ts";
import { createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { timestamp } from "./stack_parts.ts";

/** The plan for one service in an answer. */
export const serviceView = z.strictObject({
  name: z.string(),
  action: z.enum(["keep", "create", "recreate", "reload", "scale", "start", "remove"]),
  because: z.array(z.string()).describe("Why, in sentences."),
});

/** Shows the plans for services. */
export function viewServices(services: NonNullable<RunTarget["services"]>) {
  return services.map(({ name, action, because }) => ({ name, action, because: [...because] }));
}

/** One target of a run in an answer. */
export const targetView = z.strictObject({
  context: z.string().describe("Container context; `default` for the default one."),
  stack: z.string(),
  status: z.enum(["pending", "running", "succeeded", "failed", "skipped"]),
  reason: z.string().optional().describe(
    "Why it was skipped: no_changes, filter_mismatch, superseded, nothing_to_destroy, delay, " +
      "budget_exhausted, sync_window, or a pause reason, which starts with `paused`.",
  ),
  retry_at: timestamp.optional(),
  message: z.string().optional(),
  revision: z.string().optional(),
  services: z.array(serviceView).optional().describe("What was decided for each service."),
});

/** One run in an answer; unknown or empty fields are absent. */
export const runView = z.strictObject({
  job_id: z.string(),
  trigger: z.enum(TRIGGERS),
  status: z.enum(RUN_STATUSES),
  repository: z.string().optional(),
  target: z.string().optional(),
  revision: z.string().optional(),
  deployments: z.array(targetView).optional(),
  message: z.string().optional(),
  created_at: timestamp,
  started_at: timestamp.optional(),
  finished_at: timestamp.optional(),
  updated_at: timestamp,
});

/** See {@link runView}. */
export type RunView = z.output<typeof runView>;
/** See {@link targetView}. */
export type TargetView = z.output<typeof targetView>;

/** Makes a function that shows runs, which never change: it remembers what it made of them. */
export function createRunView(timeZone: string): (run: Run) => RunView {
  const time = createTimeFormat(timeZone);
  const shown = new WeakMap<Run, RunView>();
  return (run) => shown.getOrInsertComputed(run, () => viewRun(run, time));
}

function viewRun(run: Run, time: TimeFormat): RunView {
  return {
    job_id: run.id,
    trigger: run.trigger,
    status: run.status,
    ...filled({
      repository: run.repository,
      target: run.target,
      revision: run.revision,
      deployments: run.targets.map((each) => viewTarget(each, time)),
      message: run.message,
      started_at: run.startedAt && time(run.startedAt),
      finished_at: run.finishedAt && time(run.finishedAt),
    }),
    created_at: time(run.createdAt),
    updated_at: time(run.updatedAt),
  };
}

function viewTarget(target: RunTarget, time: TimeFormat): TargetView {
  const { context, stack, status, reason, retryAt, message, revision, services } = target;
  return {
    context,
    stack,
    status,
    ...filled({
      reason,
      retry_at: retryAt && time(retryAt),
      message,
      revision,
      services: services && viewServices(services),
    }),
  };
}
