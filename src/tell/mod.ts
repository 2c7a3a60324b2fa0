/** Tells what becomes of targets: the teller, and its listeners. */
export { askedAs } from "./asked_as.ts";
export { decisionListener } from "./decision_listener.ts";
export { describing } from "./describe_run.ts";
export { logListener } from "./log_listener.ts";
export { measuredJob } from "./measured_job.ts";
export { meterListener } from "./meter_listener.ts";
export { reconciliationTeller } from "./reconciliation_teller.ts";
export { runListener } from "./run_listener.ts";
export { stackLabels } from "./stack_labels.ts";
export { tellDrift } from "./tell_drift.ts";
export { tellSuppressed } from "./tell_suppressed.ts";
export { newVerdicts, tellVerdicts } from "./tell_verdicts.ts";
export { createTeller, type Teller } from "./teller.ts";
