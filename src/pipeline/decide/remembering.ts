import { isStackwrightError, messageOf, type StackKey } from "../../model/mod.ts";
import { decideRetry } from "../../plan/mod.ts";
import type { paceOf } from "../hold.ts";
import type { PipelineParts } from "../parts.ts";

/** An attempt of a source at a stack, and how its retries are paced. */
export interface Attempt extends ReturnType<typeof paceOf> {
  /** Digest of the release, or `REMOVAL`. */
  readonly release: string;
  readonly source: string;
  /** Whether a failure is nobody's, besides that of an engine that is away; none by default. */
  readonly isExempt?: (error: unknown) => boolean;
}

/** Runs `work`, and records its failure as that of an attempt, and that it was a retry. */
export async function remembering<T>(
  { ledger: { failures }, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  { release, source, isExempt = () => false, ...pace }: Attempt,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (isStackwrightError(error, "engine_unreachable") || isExempt(error)) throw error;
    const at = clock.now();
    const retry = decideRetry({ ...pace, release, failure: failures.get(key, source), now: at });
    if (retry.kind === "attempt" && retry.isRetry) failures.countAttempt(key);
    const automatic = pace.origin === "automatic";
    failures.fail(key, { release, source, message: messageOf(error), at, automatic });
    throw error;
  }
}
