import type { Run, Work } from "../model/mod.ts";
import { sourceLocation } from "../source/mod.ts";
import type { Meter } from "../system/mod.ts";

const NAMES = {
  poll: {
    total: "polls_total",
    errors: "poll_errors_total",
    duration: "poll_duration_seconds",
  },
  // Its requests are counted where they come in: a run may be about many of them.
  webhook: {
    total: undefined,
    errors: "webhook_errors_total",
    duration: "webhook_duration_seconds",
  },
} as const;

/** Records a finished run; of triggers that have metrics of their own kind, nothing. */
export function measureRun(meter: Meter, run: Run, work: Work): void {
  if (run.trigger !== "poll" && run.trigger !== "webhook") return;
  const { total, errors, duration } = NAMES[run.trigger];
  const labels = { repository: repositoryOf(work) };
  if (total !== undefined) meter.count(total, labels);
  if (run.status === "failed") meter.count(errors, labels);
  const end = run.finishedAt ?? run.updatedAt;
  meter.observe(duration, labels, (end.getTime() - run.createdAt.getTime()) / 1000);
}

/** Known before the source was reached, so that failures count under the same name. */
function repositoryOf({ sources }: Work): string {
  const [first] = sources;
  if (first === undefined) return "none";
  if (sources.length > 1) return "multiple";
  try {
    return first.identity ?? sourceLocation(first.kind, first.url).name;
  } catch {
    // An address that cannot be read is not a name to keep for ever.
    return "invalid";
  }
}
