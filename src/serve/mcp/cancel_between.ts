import type { Run } from "../../model/mod.ts";
import type { RunStore } from "../../record/mod.ts";

/** The way out of a call that may have started a run. */
export interface WayOut {
  /** Aborts when the caller is gone, but not in the middle of a change. */
  readonly signal: AbortSignal;
  /** Names the run that the call started. */
  readonly follow: (id: string) => void;
  /** To be called when the call ended. */
  readonly end: () => void;
}

/**
 * A way out that leaves every stack at one release: while a run of a poll is changing one, the signal
 * waits until it has ended. Containers that were stopped and not yet replaced would be left so, for
 * whoever comes next. Preparation and jobs end at once.
 */
export function cancelBetween(runs: Pick<RunStore, "subscribe">, caller: AbortSignal): WayOut {
  const controller = new AbortController();
  let followed: string | undefined;
  let isChanging = false;
  const look = () => {
    if (caller.aborted && !isChanging) controller.abort(caller.reason);
  };
  const unsubscribe = runs.subscribe((run) => {
    if (run.id !== followed) return;
    isChanging = changes(run);
    look();
  });
  caller.addEventListener("abort", look, { once: true });
  look();
  return {
    signal: controller.signal,
    follow: (id) => void (followed = id),
    end: () => {
      unsubscribe();
      caller.removeEventListener("abort", look);
    },
  };
}

/** A target of a poll runs from before its first change until after its last. */
function changes({ trigger, targets }: Run): boolean {
  return trigger === "poll" && targets.some(({ status }) => status === "running");
}
