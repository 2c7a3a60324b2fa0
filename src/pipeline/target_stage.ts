import type { RunReporter } from "../model/mod.ts";
import { type Target, targetEntry } from "../prepare/mod.ts";

/** Which step a target is in. */
export interface TargetStage {
  /** To be called when the deployment itself begins. */
  start(target: Target): void;
  /** Shows a step to those who look at the run. */
  say(target: Target, step: string): void;
}

/** Tells a run which step a target is in, each step once. */
export function createStage(reporter: RunReporter): TargetStage {
  let status: "pending" | "running" = "pending";
  let said = "";
  return {
    start(target: Target) {
      status = "running";
      reporter.target(targetEntry(target, { status }));
    },
    say(target: Target, step: string) {
      if (step === said) return;
      said = step;
      reporter.target(targetEntry(target, { status, message: step }));
    },
  };
}
