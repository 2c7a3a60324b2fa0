import type { ToldTarget } from "../model/mod.ts";
import { atEnd, type Clock, type Meter } from "../system/mod.ts";

/** Ports for measurements. */
export interface Measured {
  readonly meter: Meter;
  readonly clock: Clock;
}

type MeasuredOutcome = "ok" | "error";

/** Runs work and records its duration in seconds and its outcome. */
export async function measure<T>(
  { clock }: Measured,
  record: (time: number, outcome: MeasuredOutcome) => void,
  work: () => Promise<T>,
): Promise<T> {
  const began = clock.now();
  let outcome: MeasuredOutcome = "error";
  using _ = atEnd(() => record((clock.now().getTime() - began.getTime()) / 1000, outcome));
  const result = await work();
  outcome = "ok";
  return result;
}

/** Runs and measures one operation of a preparation. */
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

/** Runs and measures a stage of a target: `decide` changes nothing, `deploy` does. */
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
