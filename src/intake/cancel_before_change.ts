import type { RunStore } from "../record/mod.ts";

/** A run that its waiting client can cancel. */
interface Cancellable {
  readonly runs: Pick<RunStore, "subscribe">;
  readonly id: string;
  readonly client: AbortSignal;
  /** Cancels the run. May be called twice. */
  readonly cancel: () => void;
}

/**
 * Cancels a run whose client is gone before anything is changed. One that has changed something goes on to
 * its end: containers that were stopped or removed, also of another stack, may come back by its next step,
 * which nobody else takes. Returns a function to call when the run is over.
 */
export function cancelBeforeChange({ runs, id, client, cancel }: Cancellable): () => void {
  const look = () => {
    if (client.aborted) cancel();
  };
  const stop = () => {
    unsubscribe();
    client.removeEventListener("abort", look);
  };
  const unsubscribe = runs.subscribe((run) => {
    if (run.id !== id) return;
    if (run.targets.some(({ status }) => status === "running" || status === "succeeded")) stop();
  });
  client.addEventListener("abort", look, { once: true });
  look();
  return stop;
}
