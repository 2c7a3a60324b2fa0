import * as z from "zod";
import { errors, isStackwrightError } from "../model/mod.ts";
import { abortable, type Clock, withDeadline } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";

/** The answer to a health check. */
export const healthView = z.strictObject({
  details: z.enum(["healthy", "unhealthy"]),
  error: z.string().optional().describe("Present when unhealthy."),
});

/** See {@link healthView}. */
export type HealthView = z.output<typeof healthView>;

/** Milliseconds for the engine to answer. */
const LONGEST_CHECK_MS = 3_000;

/** Ports of the health check. */
export interface HealthParts {
  /** Checks that the container engine answers; throws when it does not. */
  readonly checkEngine: (signal: AbortSignal) => Promise<unknown>;
  /** False once shutdown has begun. */
  readonly isOpen: () => boolean;
  readonly clock: Clock;
}

/** Tells whether Stackwright can work: the engine answers, and shutdown has not begun. */
export function healthOperation(parts: HealthParts): Operation<HealthView> {
  let underWay: Promise<HealthView> | undefined;
  // Concurrent callers share one question to the engine, as asking takes no key.
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
    // Details of unexpected errors are for the log only.
    const known = isStackwrightError(error) && error.code !== "internal";
    return {
      details: "unhealthy",
      error: known ? error.told : "the container engine could not be checked",
    };
  }
}

async function withinTime({ checkEngine, clock }: HealthParts): Promise<void> {
  // Not the caller's signal: others may wait for the same answer.
  const nobody = new AbortController().signal;
  const why = `the container engine did not answer within ${LONGEST_CHECK_MS / 1000} s`;
  const late = () => errors.timeout(why);
  const limit = { clock, milliseconds: LONGEST_CHECK_MS, late };
  await withDeadline(limit, (signal) => abortable(checkEngine(signal), signal), nobody);
}
