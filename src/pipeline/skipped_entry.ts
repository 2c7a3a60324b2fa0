import type { RunTarget, SkipReason } from "../model/mod.ts";
import type { Decision } from "./decide_target.ts";
import { type Target, targetEntry } from "../prepare/mod.ts";

/** The entry of a target that is left as it is. */
export function skippedEntry(
  target: Target,
  { plan, retryAt }: Decision & { readonly kind: "skip" },
): RunTarget {
  const { message, services } = plan;
  const when = retryAt === undefined ? {} : { retryAt };
  const reason = reasonOf(plan.reason, message);
  return targetEntry(target, { status: "skipped", reason, message, services, ...when });
}

/** A pause says in its reason what is paused. */
export function reasonOf(reason: SkipReason, message: string): SkipReason {
  return reason === "paused" ? `paused: ${message}` : reason;
}
