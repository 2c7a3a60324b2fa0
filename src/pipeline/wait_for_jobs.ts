import { runningJobs } from "../deploy/mod.ts";
import { StackwrightError } from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";
import type { Target } from "../prepare/mod.ts";

/** Milliseconds between two looks. */
const INTERVAL_MS = 1000;

/**
 * Waits until no job of a stack runs, within the deployment's timeout and before anything is changed.
 * A job that says so itself is waited for, or not, whatever `wait_running_jobs` is.
 *
 * Throws `timeout`, naming the containers.
 */
export async function waitForJobs(
  { engine, clock, log }: Pick<PipelineParts, "engine" | "clock" | "log">,
  { key, deployment }: Pick<Target, "key" | "deployment">,
  signal: AbortSignal,
): Promise<void> {
  const { waitRunningJobs, timeoutSeconds } = deployment;
  for (let waited = 0;; waited++) {
    const jobs = await runningJobs(engine, key, { byDefault: waitRunningJobs }, signal);
    if (jobs.length === 0) return;
    const names = jobs.map((each) => each.name).sort().join(", ");
    if (waited >= timeoutSeconds) {
      throw new StackwrightError(
        "timeout",
        `timed out waiting ${timeoutSeconds} seconds for running jobs of ${key.name} (${names}); ` +
          `nothing was changed. wait_running_jobs: false deploys without waiting`,
      );
    }
    if (waited === 0) log.info(`waiting for running jobs: ${names}`, { stack: key.name });
    await clock.sleep(INTERVAL_MS, signal);
  }
}
