import type { ToldDecision } from "../model/mod.ts";
import { type Decision, messageFor } from "./decide_target.ts";

/** A decision in the words in which everybody is told of it. */
export function toldDecision(decision: Decision): ToldDecision {
  const { changes, plan } = decision;
  const told = { message: messageFor(decision), services: plan.services, changes };
  if (decision.kind === "repair") {
    const { reason, retryAt } = decision.hold;
    return { kind: "repair", reason, ...told, ...later(retryAt) };
  }
  if (decision.kind !== "skip") return { kind: plan.kind, ...told };
  return { kind: "skip", reason: decision.plan.reason, ...told, ...later(decision.retryAt) };
}

function later(retryAt: Date | undefined): { readonly retryAt?: Date } {
  return retryAt === undefined ? {} : { retryAt };
}
