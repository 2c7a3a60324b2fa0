import type { ShownRelease } from "../deploy/mod.ts";
import type { Plan, StackKey } from "../model/mod.ts";
import { stackFiles } from "./carry_out.ts";
import type { PipelineParts } from "./parts.ts";

/**
 * The plan for a release whose containers are as they should be: nothing, or its files are put in
 * place. They differ where only services without containers use them, or where a process ended while
 * it changed them. Another process that is changing the stack is left to it.
 */
export async function withFiles(
  parts: PipelineParts,
  key: StackKey,
  release: ShownRelease,
  plan: Plan,
): Promise<Plan> {
  if (plan.kind !== "skip" || plan.reason !== "no_changes") return plan;
  if (parts.ledger.heldElsewhere(key) !== undefined) return plan;
  if (await stackFiles(parts, key).show(release)) return plan;
  const message = "bring the files of its containers up to date";
  return { kind: "deploy", message, services: plan.services };
}
