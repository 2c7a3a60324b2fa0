import type { DeploymentView } from "../api/mod.ts";

/** A scheduled job in one line: its schedule, how its last run ended, and when the next one is. */
export function jobText(
  { service, schedule, last_run: last, next_run_at: next }: NonNullable<
    DeploymentView["jobs"]
  >[number],
  time: (text: string) => string,
  brief: (message: string) => string = String,
): string {
  const then = next === undefined ? "" : `; next run ${time(next)}`;
  const job = `job ${service} (${schedule}): `;
  if (last === undefined) return `${job}no run in the last week is known${then}`;
  if (last.status !== "failed") return `${job}its last run succeeded ${time(last.ended_at)}${then}`;
  const failed = `${job}its last run failed ${time(last.ended_at)}`;
  const why = brief(last.message);
  // Nothing of ours ends the output of a container.
  return why.includes("\n") ? `${failed}${then}: ${why}` : `${failed}: ${why}${then}`;
}
