import type { Clock } from "../system/mod.ts";

/** Gets an answer. */
export type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** Gets an answer that may be remembered, but where it is wanted `anew`. */
type AskRemembered<T> = (signal: AbortSignal, how?: { readonly anew?: boolean }) => Promise<T>;

/** Remembers an answer of `ask` for `lifetimeMs`; failures are not remembered. */
export function remembered<T>(clock: Clock, lifetimeMs: number, ask: Ask<T>): AskRemembered<T> {
  let known: { readonly answer: T; readonly until: number } | undefined;
  return async (signal, { anew = false } = {}) => {
    if (!anew && known !== undefined && clock.now().getTime() < known.until) return known.answer;
    known = undefined;
    const answer = await ask(signal);
    known = { answer, until: clock.now().getTime() + lifetimeMs };
    return answer;
  };
}

/** Does `work` until it succeeds once; concurrent callers share an attempt. */
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
