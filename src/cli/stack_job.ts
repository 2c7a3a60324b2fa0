import type { DeploymentView } from "../api/mod.ts";

/** A scheduled job in one line: its schedule, how its last run ended, and when the next one is. */
export function jobText(
  { service, schedule, last_run: last, next_run_at: next }: NonNullable<
    DeploymentView["jobs"]
  >[number],
  time: (text: string) => string,
  brief: (message: string) => string = String,
): string {
  const ended = last === undefined
    ? "no run in the last week is known"
    : last.status === "failed"
    ? `its last run failed ${time(last.ended_at)}: ${brief(last.message)}`
    : `its last run succeeded ${time(last.ended_at)}`;
  return `job ${service} (${schedule}): ${ended}` +
    (next === undefined ? "" : `; next run ${time(next)}`);
}
