import type { RunReporter, RunTarget, StackKey } from "../model/mod.ts";
import { measure, type Measured, seconds } from "../prepare/mod.ts";

/** Measures what becomes of one target of one run. */
export interface TargetMeter {
  readonly repository: string;
  /** A reporter that passes everything on and remembers how the target ended. */
  listening(reporter: RunReporter): RunReporter;
  /** To be called when the target has its stack's lock. */
  hasLock(): void;
  /** Runs a stage of the deployment and measures it. */
  stage<T>(name: "decide" | "deploy", work: () => Promise<T>): Promise<T>;
  /** To be called once, when all is done. What was skipped is no deployment. */
  end(): void;
}

/** Makes the meter of a target that was just begun. */
export function targetMeter(parts: Measured, key: StackKey, repository: string): TargetMeter {
  const { meter, clock } = parts;
  const began = clock.now();
  const labels = { repository, deployment: key.name, context: key.context };
  const lock = { repository, phase: "stack" };
  // Shown from the first look on, at zero: an alert wants to see the step to one.
  meter.count("deployments_total", labels, 0);
  meter.count("deployment_errors_total", labels, 0);
  let status: RunTarget["status"] = "pending";
  let locked = false;
  return {
    repository,
    listening: (reporter) => ({
      describe: (facts) => reporter.describe(facts),
      target(entry) {
        status = entry.status;
        reporter.target(entry);
      },
    }),
    hasLock() {
      locked = true;
      const waited = seconds(began, clock);
      meter.observe(
        "deployment_admission_duration_seconds",
        { ...lock, outcome: "admitted" },
        waited,
      );
    },
    stage: (stage, work) =>
      measure(
        parts,
        (time, outcome) =>
          meter.observe("deployment_stage_duration_seconds", { ...labels, stage, outcome }, time),
        work,
      ),
    end() {
      const time = seconds(began, clock);
      if (!locked) {
        meter.observe(
          "deployment_admission_duration_seconds",
          { ...lock, outcome: "gave_up" },
          time,
        );
      }
      if (status === "skipped") return;
      meter.count("deployments_total", labels);
      if (status !== "succeeded") meter.count("deployment_errors_total", labels);
      meter.observe("deployment_duration_seconds", labels, time);
    },
  };
}
