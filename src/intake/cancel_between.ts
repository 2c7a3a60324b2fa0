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
 * Cancels a run whose client is gone, but not in the middle of a change: stopped containers that
 * are not replaced yet would stay down until something looks at their stack, and half a job is none.
 * Waits while any target is changing. Returns a function to call when the run is over.
 */
export function cancelBetween({ runs, id, client, cancel }: Cancellable): () => void {
  let isChanging = false;
  const look = () => {
    if (client.aborted && !isChanging) cancel();
  };
  const unsubscribe = runs.subscribe((run) => {
    if (run.id !== id) return;
    isChanging = run.targets.some(({ status }) => status === "running");
    look();
  });
  client.addEventListener("abort", look, { once: true });
  look();
  return () => {
    unsubscribe();
    client.removeEventListener("abort", look);
  };
}
