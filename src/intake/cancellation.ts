import { StackwrightError } from "../model/mod.ts";

/** Message of a run that the end of the process cut short. */
export const CANCELLED_BY_SHUTDOWN = "cancelled by shutdown";
/** Message of a run whose waiting client went away. */
export const CANCELLED_BY_CLIENT = "cancelled: the client that waited for it disconnected";

/** The reason that work is aborted with; the message becomes the run's. */
export function cancellation(
  message: typeof CANCELLED_BY_SHUTDOWN | typeof CANCELLED_BY_CLIENT,
): StackwrightError {
  return new StackwrightError("cancelled", message);
}
