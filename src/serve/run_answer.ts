import type { RunResult } from "../api/mod.ts";
import type { Answer } from "./envelope.ts";

const STATUS: Readonly<Record<RunResult["outcome"], number>> = {
  complete: 200,
  started: 202,
  deferred: 202,
  failed: 500,
  cancelled: 503,
};

/** The answer with the result of a run; a failure is a refusal that names the run. */
export function runAnswer({ outcome, message, detail, run }: RunResult): Answer {
  const status = STATUS[outcome];
  const jobId = run.job_id;
  if (outcome !== "failed" && outcome !== "cancelled") {
    return { kind: "content", status, content: message, jobId };
  }
  const refusal = { status, error: message, ...(detail === undefined ? {} : { content: detail }) };
  return { kind: "refusal", refusal, jobId };
}
