import type { ReconciliationEvent } from "./deployment.ts";

/** Events of a stack's containers since the last look; absent where nobody listened. */
export type Heard = ReadonlyMap<string, ReadonlySet<ReconciliationEvent>>;

/** Called under the stack's lock: the events to look for, and milliseconds until a retry if that fails. */
export type LookBecause = () => {
  readonly heard: Heard | undefined;
  readonly retryMs: number;
};
