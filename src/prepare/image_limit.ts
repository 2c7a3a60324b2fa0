import { StackwrightError } from "../model/mod.ts";
import { type Clock, withDeadline } from "../system/mod.ts";

/** Pulling and building may take long, but not for ever: a hung registry must not hold a place. */
const SHORTEST_LIMIT_SECONDS = 15 * 60;

/**
 * Fetches or builds images for at most a quarter of an hour, or as long as the deployment may take
 * where that is longer. `doing` says what is done, for the error.
 *
 * Throws `timeout`, what `work` throws, and the signal's reason.
 */
export async function withImageLimit<T>(
  { clock }: { readonly clock: Clock },
  { doing, timeoutSeconds }: { readonly doing: string; readonly timeoutSeconds: number },
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const seconds = Math.max(timeoutSeconds, SHORTEST_LIMIT_SECONDS);
  const late = () =>
    new StackwrightError(
      "timeout",
      `${doing} was not done within ${seconds} s and was given up; nothing that runs was touched`,
    );
  return await withDeadline({ clock, milliseconds: seconds * 1000, late }, work, signal);
}
