import type { ToldTarget } from "../model/mod.ts";
import type { Clock, Meter } from "../system/mod.ts";

/** Ports for measuring. */
export interface Measured {
  readonly meter: Meter;
  readonly clock: Clock;
}

/** The end of something that was measured. */
type MeasuredOutcome = "ok" | "error";

/** Runs work and tells how long it took, in seconds, and how it ended. */
export async function measure<T>(
  { clock }: Measured,
  record: (time: number, outcome: MeasuredOutcome) => void,
  work: () => Promise<T>,
): Promise<T> {
  const began = clock.now();
  let outcome: MeasuredOutcome = "error";
  try {
    const result = await work();
    outcome = "ok";
    return result;
  } finally {
    record((clock.now().getTime() - began.getTime()) / 1000, outcome);
  }
}

/** Runs one operation of a preparation: `render`, `materialise`, `pull` or `build`. */
export async function operation<T>(
  parts: Measured,
  name: "render" | "materialise" | "pull" | "build",
  work: () => Promise<T>,
): Promise<T> {
  const { meter } = parts;
  return await measure(parts, (time, outcome) => {
    const labels = { operation: name, outcome };
    meter.observe("pre_deploy_operation_duration_seconds", labels, time);
  }, work);
}

/** Runs a stage of what is done to a target: `decide` touches nothing, `deploy` does. */
export async function stage<T>(
  parts: Measured,
  { key, repository }: ToldTarget,
  name: "decide" | "deploy",
  work: () => Promise<T>,
): Promise<T> {
  const labels = { repository, deployment: key.name, context: key.context, stage: name };
  return await measure(parts, (time, outcome) => {
    parts.meter.observe("deployment_stage_duration_seconds", { ...labels, outcome }, time);
  }, work);
}
