/**
 * Decides, purely: what to do to each service and why, whether the inputs of a release changed,
 * what a run amounts to. Values in, values out; no clock, no engine, no disk.
 */
export * from "./decide.ts";
export { type DecideInput } from "./decide_input.ts";
export * from "./decide_reconciliation.ts";
export * from "./engine_verdicts.ts";
export * from "./fair_discoveries.ts";
export { failedBefore, type Hold, LEFT, pausedHold, retryHold, UNPOLLED } from "./hold.ts";
export * from "./inputs.ts";
export { restartLoops } from "./engine_restarts.ts";
export { judgeDrift, toRemember } from "./judge_drift.ts";
export * from "./obsolete.ts";
export * from "./removal.ts";
export { otherImages } from "./other_images.ts";
export * from "./listed_drift.ts";
export { planFor, type Why } from "./plan_for.ts";
export * from "./retry.ts";
export * from "./run_outcome.ts";
export * from "./schedule.ts";
export * from "./stack_state.ts";
export * from "./stack_states.ts";
export * from "./supported.ts";
export * from "./sync_windows.ts";
export * from "./trees.ts";
export * from "./webhook_admission.ts";
export { whyForced } from "./why_forced.ts";
export { withStarted } from "./with_started.ts";
