import { lastJobRuns } from "../api/mod.ts";
import type { Ledger, RunStore } from "../record/mod.ts";
import type { IntervalStart, ScheduledJob } from "../trigger/mod.ts";

/** Makes a function that finds what the intervals of jobs count from; runs are listed once, when asked. */
export function intervalStarts(
  runs: () => Pick<RunStore, "list">,
  ledger: Pick<Ledger, "current">,
): (job: Pick<ScheduledJob, "key" | "name">) => IntervalStart {
  let lastRunOf: ReturnType<typeof lastJobRuns> | undefined;
  return ({ key, name }) => {
    lastRunOf ??= lastJobRuns(runs());
    const lastRunAt = lastRunOf(key, name)?.createdAt;
    const deployedAt = ledger.current(key)?.createdAt;
    return { ...(lastRunAt && { lastRunAt }), ...(deployedAt && { deployedAt }) };
  };
}
