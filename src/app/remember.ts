import type { Clock } from "../system/mod.ts";

/** An answer that takes a signal to get. */
export type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** Asks again after `lifetimeMs`, and after every failure; in between the last answer stands. */
export function remembered<T>(clock: Clock, lifetimeMs: number, ask: Ask<T>): Ask<T> {
  let known: { readonly answer: T; readonly until: number } | undefined;
  return async (signal) => {
    if (known !== undefined && clock.now().getTime() < known.until) return known.answer;
    known = undefined;
    const answer = await ask(signal);
    known = { answer, until: clock.now().getTime() + lifetimeMs };
    return answer;
  };
}

/** Does something until it worked once; callers at the same time share the first one's attempt. */
export function onceDone<T>(work: Ask<T>): Ask<T> {
  let attempt: Promise<T> | undefined;
  return (signal) => {
    attempt ??= work(signal).catch((error) => {
      attempt = undefined;
      throw error;
    });
    return attempt;
  };
}
