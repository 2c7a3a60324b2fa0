/**
 * A wait that ends when what `begin` gets is called. When the signal aborts before, it rejects with its
 * reason and calls what `begin` returned: a waiter that gives up must not be handed anything later.
 */
export function abortableWait<T = void>(
  begin: (end: (result: T) => void) => () => unknown,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      giveUp();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const giveUp = begin((result) => {
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    });
  });
}
