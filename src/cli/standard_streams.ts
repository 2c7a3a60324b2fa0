/** As much of a runtime's stream as output needs. */
interface OutputStream {
  /** Calls `done` when the system has taken the text, or never will. Some runtimes throw instead. */
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Output that can be waited for. */
interface Output {
  /** Hands a text over; the system may take it much later, when its reader is slow. */
  write(text: string): void;
  /**
   * Resolves when everything written so far has left this process or never will: to what went wrong,
   * such as a full disk. A reader that goes away (`| head`) has what it wanted and is no error.
   */
  drained(): Promise<Error | undefined>;
}

/**
 * Wraps a stream of this process. Ending the process before `drained` cuts what a pipe has not taken
 * yet: some runtimes write to pipes in the background.
 */
export function trackedOutput(stream: OutputStream): Output {
  let open = 0;
  let failure: Error | undefined;
  let waiting: (() => void)[] = [];
  const failed = (error: unknown) => {
    const isGone = (error as { readonly code?: unknown })?.code === "EPIPE";
    if (error instanceof Error && !isGone) failure ??= error;
  };
  const taken = (error?: Error | null) => {
    failed(error);
    if (--open > 0) return;
    waiting.forEach((resolve) => resolve());
    waiting = [];
  };
  stream.on("error", failed);
  return {
    write(text) {
      open++;
      try {
        stream.write(text, taken);
      } catch (error) {
        failed(error);
        taken();
      }
    },
    async drained() {
      if (open > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return failure;
    },
  };
}
