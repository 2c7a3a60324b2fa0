import type { ReconciliationEvent } from "./deployment.ts";

/**
 * Events of a stack's containers since the last look, by container id. Absent where nobody
 * listened: then anything may have happened.
 */
export type Heard = ReadonlyMap<string, ReadonlySet<ReconciliationEvent>>;

/**
 * Called with the stack's lock held: returns the events to look for, and the milliseconds until the
 * retry if the look fails.
 */
export type LookBecause = () => {
  readonly heard: Heard | undefined;
  readonly retryMs: number;
};
