import { type Run, type SourceRequest, sourcesOf, type Work } from "../model/mod.ts";
import { sourceNameOf } from "../source/mod.ts";
import type { Meter } from "../system/mod.ts";

const NAMES = {
  poll: { total: "polls_total", errors: "poll_errors_total", duration: "poll_duration_seconds" },
  // Requests of webhooks are counted on arrival: one run may serve many of them.
  webhook: {
    total: undefined,
    errors: "webhook_errors_total",
    duration: "webhook_duration_seconds",
  },
} as const;

/** Measures a finished run of a poll or webhook; other triggers have metrics of their own. */
export function measureRun(meter: Meter, run: Run, work: Work): void {
  if (work.kind !== "sync" || (run.trigger !== "poll" && run.trigger !== "webhook")) return;
  const { total, errors, duration } = NAMES[run.trigger];
  const labels = { repository: repositoryOf(sourcesOf(work)) };
  if (total !== undefined) meter.count(total, labels);
  // Added as zero without a failure: a series that starts with its first failure shows no increase.
  meter.count(errors, labels, run.status === "failed" ? 1 : 0);
  const end = run.finishedAt ?? run.updatedAt;
  meter.observe(duration, labels, (end.getTime() - run.createdAt.getTime()) / 1000);
}

/** Shows the counters of polls and mutations at zero before they count. */
export function announcePolls(meter: Meter, sources: readonly SourceRequest[]): void {
  for (const source of sources) {
    const labels = { repository: repositoryOf([source]) };
    meter.count("polls_total", labels, 0);
    meter.count("poll_errors_total", labels, 0);
  }
  for (const by of ["engine", "compose"]) meter.count("mutations_total", { by }, 0);
}

/** Counts an authentic webhook, and shows the counter of its failures from now on. */
export function countWebhook(meter: Meter, repository: string): void {
  meter.count("webhook_requests_total", { repository });
  meter.count("webhook_errors_total", { repository }, 0);
}

/** Name of the repository before it is reached, so that failures count under the same name. */
function repositoryOf(sources: readonly SourceRequest[]): string {
  const [first] = sources;
  if (first === undefined) return "none";
  if (sources.length > 1) return "multiple";
  try {
    return sourceNameOf(first);
  } catch {
    // An invalid address must not become a label value.
    return "invalid";
  }
}
