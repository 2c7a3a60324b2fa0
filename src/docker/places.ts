import {
  boundFairly,
  createFairLimiter,
  createLimiter,
  type FairLimiter,
  type Limiter,
} from "../system/mod.ts";

type Places = Pick<Limiter, "run">;

/** What goes on at once with one engine, which may send anything: the sum has to fit into memory. */
export class EnginePlaces {
  /**
   * Calls, each with a connection, besides those that wait for a container to stop. With those beside
   * them, logs, and what acts on containers these are 256, as many as Bun has under way at once where it
   * is not told otherwise. A container whose start hangs makes looks at it hang as well.
   */
  readonly calls: FairLimiter = boundFairly(128, 64);
  /** Calls that act on a container, whose author may make them slow: sources take turns, and none has all. */
  readonly acting: FairLimiter = boundFairly(112, 32);
  /** Short calls beside them, see {@link ApiRequest.isBeside}. */
  readonly beside: Places = createLimiter(8);
  /** Answers that are read. */
  readonly readings: FairLimiter = createFairLimiter(8);
  /** Calls whose answers turned out to be long, from before they are sent: nothing is held meanwhile. */
  readonly long: FairLimiter = createFairLimiter(2);
  /** Large values that are parsed: that blocks the process. */
  readonly turns: Places = createLimiter(1);
  /** Logs that are read, beside the calls. An author decides how long each takes: sources take turns. */
  readonly logs: FairLimiter = createFairLimiter(8);
}

/** A place that is held from `take`, which may be called again, to `leave`. */
export function held(
  who: string,
  places: FairLimiter,
  signal: AbortSignal,
): { take(): Promise<void>; leave(): void } {
  const end = Promise.withResolvers<void>();
  let taken: Promise<void> | undefined;
  const taking = () =>
    new Promise<void>((resolve, reject) => {
      places.run(who, () => {
        resolve();
        return end.promise;
      }, signal).catch(reject);
    });
  return { take: () => taken ??= taking(), leave: end.resolve };
}
