/**
 * Tool calls under way, so that a cancellation, which is a separate request, finds its call. A client
 * is known by the unguessable session id that it got from `initialize`; nothing else is kept of it.
 */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** A signal for one call, which aborts with `caller` or {@link cancel}; call `end` after the call. */
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

  /** Cancels a call; does nothing when it has ended or never existed, or `id` is no id. */
  cancel(session: string, id: unknown): void {
    // Anything else comes from outside as deep as it likes, deeper than the stack of a runtime.
    if (session === "" || typeof id !== "string" && typeof id !== "number") return;
    this.#calls.get(keyOf(session, id))?.abort();
  }
}

function keyOf(session: string, id: string | number): string {
  return JSON.stringify([session, id]);
}
