import type { TargetListener } from "../model/mod.ts";
import type { Clock, Meter } from "../system/mod.ts";
import { stackLabels } from "./stack_labels.ts";

/** Makes the listener that measures deployments, removals and rollbacks. */
export function meterListener(
  { meter, clock }: { readonly meter: Meter; readonly clock: Clock },
): TargetListener {
  return ({ key, repository }) => {
    const began = clock.now();
    const seconds = () => (clock.now().getTime() - began.getTime()) / 1000;
    const labels = stackLabels(key, repository);
    // Counters exist from the first look on, at zero: alerts need to see the step to one.
    meter.count("deployments_total", labels, 0);
    meter.count("deployment_errors_total", labels, 0);
    let waits = false;
    let deploys = true;
    const leaveQueue = (outcome: "admitted" | "gave_up") => {
      if (!waits) return;
      waits = false;
      const lock = { repository, phase: "stack", outcome };
      meter.observe("deployment_admission_duration_seconds", lock, seconds());
    };
    return (event) => {
      if (event.kind === "pending") waits = true;
      else if (event.kind === "admitted") leaveQueue("admitted");
      else if (event.kind === "decided") {
        deploys = !["start", "stop", "restart", "scale", "run"].includes(event.decision.kind);
      } else if (event.kind === "ended") {
        leaveQueue("gave_up");
        const { status } = event.end;
        if (status === "skipped" || !deploys) return;
        meter.count("deployments_total", labels);
        if (status === "failed") meter.count("deployment_errors_total", labels);
        meter.observe("deployment_duration_seconds", labels, seconds());
      }
    };
  };
}
