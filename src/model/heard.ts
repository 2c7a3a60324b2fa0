import type { ReconciliationEvent } from "./deployment.ts";

/**
 * Events of the containers of one stack since somebody looked at it, by container id.
 * Absent where nobody listened: then anything may have happened.
 */
export type Heard = ReadonlyMap<string, ReadonlySet<ReconciliationEvent>>;

/**
 * Tells, when the stack is at hand, the reason for looking at it, and the pause before that is done again
 * should it fail.
 */
export type LookBecause = () => {
  readonly heard: Heard | undefined;
  readonly retryMs: number;
};
