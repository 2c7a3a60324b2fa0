/**
 * Calls of tools that clients wait for, so that a cancellation, which comes as a request of its own,
 * finds the call it is about. A client is known by the word it was given when it introduced itself,
 * which nobody else can guess; nothing is kept of it but calls under way.
 */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /**
   * A signal for one call that aborts with the caller's own, or when the call is cancelled, and what
   * is to be called when it ended. Without a `session` nothing can cancel it but `caller`.
   */
  begin(
    session: string,
    id: string | number,
    caller: AbortSignal,
  ): { readonly signal: AbortSignal; readonly end: () => void } {
    if (session === "") return { signal: caller, end: () => {} };
    const key = keyOf(session, id);
    const controller = new AbortController();
    this.#calls.set(key, controller);
    const abort = () => controller.abort();
    if (caller.aborted) abort();
    else caller.addEventListener("abort", abort, { once: true });
    return {
      signal: controller.signal,
      end: () => {
        caller.removeEventListener("abort", abort);
        // A client that uses an id twice at a time cancels the later call.
        if (this.#calls.get(key) === controller) this.#calls.delete(key);
      },
    };
  }

  /** Cancels a call; one that is not there has ended, or was never made. */
  cancel(session: string, id: unknown): void {
    if (session === "") return;
    this.#calls.get(keyOf(session, id))?.abort();
  }

  /** Number of calls under way that can be cancelled. */
  get size(): number {
    return this.#calls.size;
  }
}

function keyOf(session: string, id: unknown): string {
  return JSON.stringify([session, id]);
}
