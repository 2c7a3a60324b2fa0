import type { Progress, StackKey } from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** Milliseconds between two looks at whether another process is done with a stack. */
const LOOK_MS = 250;

/**
 * Waits until no other process has a stack in its hands: a command beside the service, or the other
 * way round. What another one does ends by itself, since it has a time limit of its own, and one that
 * died holds nothing. Rejects with the signal's reason.
 */
export async function waitForStack(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  for (let holder = ledger.heldElsewhere(key); holder !== undefined;) {
    const [pid] = holder.split(":");
    progress(`waiting for process ${pid}, which is changing ${key.name}`);
    await clock.sleep(LOOK_MS, signal);
    holder = ledger.heldElsewhere(key);
  }
}
