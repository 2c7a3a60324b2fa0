import * as z from "zod";
import { requestError, RUN_STATUSES, TRIGGERS } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";
import { asItEnded, type StartedRunParts } from "./job_runs.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { createRunView, type RunView, runView } from "./run_view.ts";

const DEFAULT_RUN_LIMIT = 50;
/** Most runs of a list; greater limits count as this one. */
const MOST_RUNS = 200;

interface RunParts {
  readonly runs: RunStore;
  readonly timeZone: string;
}

const input = z.strictObject({
  limit: z.int().min(1).default(DEFAULT_RUN_LIMIT).describe(`At most ${MOST_RUNS} are listed.`),
  status: z.enum(RUN_STATUSES).optional(),
  trigger: z.enum(TRIGGERS).optional(),
});

/** Lists recent runs, newest first. */
export function listRunsOperation({ runs, timeZone }: RunParts): Operation<RunView[]> {
  const view = createRunView(timeZone);
  return defineOperation({
    id: "listRuns",
    summary: "List recent tracked runs, newest first.",
    tag: "Runs",
    power: "read",
    input,
    output: z.array(runView),
    errors: ["bad_request"],
  }, ({ limit, status, trigger }) => {
    const filter = {
      limit: Math.min(limit, MOST_RUNS),
      ...(status === undefined ? {} : { status }),
      ...(trigger === undefined ? {} : { trigger }),
    };
    return runs.list(filter).map(view);
  });
}

/**
 * Shows one run; that of a job whose container was started, and failed later, as failed. A call throws
 * `not_found` when it does not exist or was forgotten.
 */
export function getRunOperation(
  { runs, timeZone, jobs }: RunParts & Pick<StartedRunParts, "jobs">,
): Operation<RunView> {
  const view = createRunView(timeZone);
  return defineOperation({
    id: "getRun",
    summary: "Details of one run.",
    tag: "Runs",
    power: "read",
    input: z.strictObject({ job_id: z.string().trim().min(1) }),
    output: runView,
    errors: ["bad_request", "not_found"],
  }, async ({ job_id: id }, { signal }) => {
    const run = runs.get(id);
    if (run !== undefined) return view(await asItEnded(run, { jobs, runs }, signal));
    const detail = "no run has this job_id, or it is forgotten; GET /v1/api/runs lists them";
    throw requestError("run not found", detail, "not_found");
  });
}
