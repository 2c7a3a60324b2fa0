import { volumesText } from "../deploy/mod.ts";
import type { RunReporter, RunTarget } from "../model/mod.ts";
import { carryOut } from "./carry_out.ts";
import type { Decision } from "./decide_target.ts";
import { destroyerOf, destroyTarget } from "./destroy_target.ts";
import type { PipelineParts } from "./parts.ts";
import { reasonOf } from "./skipped_entry.ts";
import { type Target, targetEntry } from "../prepare/mod.ts";

/** What was decided, and what that rests on. */
export interface ToDo {
  readonly decision: Exclude<Decision, { kind: "skip" }>;
  /** The ledger's mark of the stack when it was decided. */
  readonly since: string;
}

/**
 * The part after the commit point: containers change here and nowhere else. Returns `moved`, and
 * nothing was changed or reported, when another process changed the stack since it was decided.
 */
export async function act(
  parts: PipelineParts,
  target: Target,
  { decision, since }: ToDo,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  if (decision.kind === "deploy") {
    return await deploy(parts, target, { decision, since }, reporter, signal);
  }
  const entry = decision.kind === "destroy"
    ? await destroy(parts, target, decision, signal)
    : await repair(parts, target, { decision, since }, signal);
  if (entry === undefined) return "moved";
  reporter.target(entry);
  return "done";
}

async function deploy(
  parts: PipelineParts,
  target: Target,
  { decision, since }: ToDo & { readonly decision: Decision & { readonly kind: "deploy" } },
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  const { plan, prepared, observed, adopts } = decision;
  const { deployment, key } = target;
  const log = parts.log.with({ stack: key.name, context: key.context });
  log.info(`deploying: ${plan.message}`, { revision: target.revision.id });
  const result = await carryOut(parts, {
    next: prepared,
    services: plan.services,
    observed,
    removeOrphans: deployment.removeOrphans && !adopts,
    pruneImages: deployment.pruneImages,
    timeoutSeconds: deployment.timeoutSeconds,
    automatic: target.origin === "automatic",
    progress: target.progress,
    note: plan.message,
    since,
  }, signal);
  if (result === undefined) return "moved";
  const { services } = plan;
  if (result.kind === "deployed") {
    parts.ledger.pins.remove(key);
    const adopted = adopts ? "; adopted containers that nobody managed, orphans were kept" : "";
    log.info(`deployed: ${plan.message}`, { revision: target.revision.id });
    const message = `${plan.message}${adopted}`;
    reporter.target(targetEntry(target, { status: "succeeded", message, services }));
    return "done";
  }
  const message = `${plan.message}: ${result.error.message}; ${result.text}`;
  log.error(`deployment failed: ${message}`, { revision: target.revision.id });
  reporter.target(targetEntry(target, { status: "failed", message, services }));
  return "done";
}

/** What the source wants is held back all the same, so the target counts as skipped. */
async function repair(
  parts: PipelineParts,
  target: Target,
  { decision, since }: ToDo & { readonly decision: Decision & { readonly kind: "repair" } },
  signal: AbortSignal,
): Promise<RunTarget | undefined> {
  const { hold, plan, placed, recorded, observed, remembers } = decision;
  const { services } = plan;
  const what = `release ${recorded.number}: ${plan.message}`;
  const log = parts.log.with({ stack: target.key.name, context: target.key.context });
  log.info(`repairing ${what}`, { revision: recorded.revision.id });
  const result = await carryOut(parts, {
    next: placed,
    services,
    observed,
    removeOrphans: false,
    pruneImages: false,
    timeoutSeconds: target.deployment.timeoutSeconds,
    automatic: target.origin === "automatic",
    progress: target.progress,
    note: `repaired ${what}`,
    remembers,
    since,
  }, signal);
  if (result === undefined) return undefined;
  if (result.kind !== "deployed") {
    const message = `repairing ${what}: ${result.error.message}; ${result.text}`;
    log.error(message, { revision: recorded.revision.id });
    return targetEntry(target, { status: "failed", message, services });
  }
  const message = `${hold.message}; repaired ${what}`;
  log.info(`repaired ${what}`, { revision: recorded.revision.id });
  const when = hold.retryAt === undefined ? {} : { retryAt: hold.retryAt };
  const reason = reasonOf(hold.reason, message);
  return targetEntry(target, { status: "skipped", reason, message, services, ...when });
}

async function destroy(
  parts: PipelineParts,
  target: Target,
  { plan: { services } }: Decision & { readonly kind: "destroy" },
  signal: AbortSignal,
): Promise<RunTarget> {
  target.progress("removing what runs");
  const { destroy } = target.deployment;
  const deleted = await destroyTarget(parts, target.key, destroyerOf(target), destroy, signal);
  if (deleted === undefined) {
    const message = `${target.key.name} does not run`;
    return targetEntry(target, { status: "skipped", reason: "nothing_to_destroy", message });
  }
  const message = `destroyed${volumesText("deleted", deleted)}`;
  return targetEntry(target, { status: "succeeded", message, services });
}
