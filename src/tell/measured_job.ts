import type { ObservedContainer, StackKey } from "../model/mod.ts";
import type { Clock, Meter } from "../system/mod.ts";

/** Starts to measure a run of a job; the returned function ends that, told how it ended. */
export function measuredJob(
  { meter, clock }: { readonly meter: Meter; readonly clock: Clock },
  { key, container, swarm }: {
    readonly key: StackKey;
    readonly container: Pick<ObservedContainer, "name">;
    readonly swarm?: unknown;
  },
  spec: { readonly mode: string },
): (failed: boolean) => void {
  const labels = {
    context: key.context,
    stack: key.name,
    job: container.name,
    mode: swarm === undefined ? "container" : "swarm",
    execution_mode: spec.mode,
  };
  const began = clock.now().getTime();
  meter.move("scheduled_runs_active", labels, 1);
  return (failed) => {
    meter.move("scheduled_runs_active", labels, -1);
    meter.count("scheduled_runs_total", labels);
    meter.count("scheduled_run_errors_total", labels, failed ? 1 : 0);
    const seconds = (clock.now().getTime() - began) / 1000;
    meter.observe("scheduled_run_duration_seconds", labels, seconds);
  };
}
