import type { Run } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";

/** A run that the client who waits for it can cancel. */
interface Cancellable {
  readonly runs: Pick<RunStore, "subscribe">;
  readonly id: string;
  readonly client: AbortSignal;
  /** Cancels the run. May be called twice. */
  readonly cancel: () => void;
}

/**
 * Cancels a run whose client is gone, but not in the middle of a change: containers that were stopped
 * and not yet replaced would be left so until something else looks at their stack. While any target is
 * changed it waits until none is. Returns what ends that, to be called when the run is over.
 */
export function cancelBetween({ runs, id, client, cancel }: Cancellable): () => void {
  let isChanging = false;
  const look = () => {
    if (client.aborted && !isChanging) cancel();
  };
  const unsubscribe = runs.subscribe((run) => {
    if (run.id !== id) return;
    isChanging = changes(run);
    look();
  });
  client.addEventListener("abort", look, { once: true });
  look();
  return () => {
    unsubscribe();
    client.removeEventListener("abort", look);
  };
}

/** A target runs from before its first change until after its last. A job begins and ends by itself. */
function changes({ trigger, targets }: Run): boolean {
  return trigger !== "scheduled_job" && targets.some(({ status }) => status === "running");
}
