/** States of a stack, in one word. */
export const STACK_STATES = [
  "synced",
  "deploying",
  "waiting",
  "held",
  "orphaned",
  "drifted",
  "failed",
  "unknown",
] as const;

/** One member of {@link STACK_STATES}. */
export type StackState = (typeof STACK_STATES)[number];

/** Combined health of a stack's containers. */
export const STACK_HEALTHS = [
  "healthy",
  "starting",
  "unhealthy",
  "finished",
  "stopped",
  "unknown",
] as const;

/** One member of {@link STACK_HEALTHS}. */
export type StackHealth = (typeof STACK_HEALTHS)[number];
