import * as z from "zod";
import { errors, isStackwrightError, messageOf } from "../model/mod.ts";
import { abortable, type Clock, withDeadline } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";

/** The answer of a health check. */
export const healthView = z.strictObject({
  details: z.enum(["healthy", "unhealthy"]),
  error: z.string().optional().describe("Present when unhealthy."),
});

/** See {@link healthView}. */
export type HealthView = z.output<typeof healthView>;

/** Longest time the engine may take, in milliseconds. */
const LONGEST_CHECK_MS = 3_000;

/** Ports of the health check. */
export interface HealthParts {
  /** Proves that the container engine answers; throws when it does not. */
  readonly checkEngine: (signal: AbortSignal) => Promise<unknown>;
  /** False once shutdown began. */
  readonly isOpen: () => boolean;
  readonly clock: Clock;
}

/**
 * The operation that says whether Stackwright can do its work: the container engine answers and
 * shutdown has not begun.
 */
export function healthOperation(parts: HealthParts): Operation<HealthView> {
  let underWay: Promise<HealthView> | undefined;
  // Nobody needs a key to ask: the engine is asked once for all who ask meanwhile.
  const look = () => underWay ??= checkHealth(parts).finally(() => underWay = undefined);
  return defineOperation({
    id: "getHealth",
    summary: "Verify access to the container engine.",
    tag: "Health",
    power: "read",
    input: z.strictObject({}),
    output: healthView,
    errors: [],
  }, look);
}

async function checkHealth(parts: HealthParts): Promise<HealthView> {
  if (!parts.isOpen()) return { details: "unhealthy", error: "application is shutting down" };
  try {
    await withinTime(parts);
    return { details: "healthy" };
  } catch (error) {
    // What an unknown error says is for the log of whoever threw it.
    const known = isStackwrightError(error) && error.code !== "internal";
    return {
      details: "unhealthy",
      error: known ? messageOf(error) : "the container engine could not be checked",
    };
  }
}

async function withinTime({ checkEngine, clock }: HealthParts): Promise<void> {
  // Whoever asks may go away: others wait for the same look.
  const nobody = new AbortController().signal;
  const why = `the container engine did not answer within ${LONGEST_CHECK_MS / 1000} s`;
  const late = () => errors.timeout(why);
  const limit = { clock, milliseconds: LONGEST_CHECK_MS, late };
  await withDeadline(limit, (signal) => abortable(checkEngine(signal), signal), nobody);
}
