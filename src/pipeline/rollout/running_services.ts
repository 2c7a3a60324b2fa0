import { awaitedJobs, observe } from "../../deploy/mod.ts";
import { isJobService, type ObservedStack, type StackKey } from "../../model/mod.ts";
import type { Intent } from "../../record/mod.ts";
import type { DecidedRollout, PipelineParts } from "../parts.ts";

/**
 * Services of a stack that run, without those that their author made scheduled jobs: what ran of these has
 * ended, or was cut off since its author does not have it waited for. Started like what ran before a
 * rollout, a job would run once more, outside of its schedule.
 */
export async function runningServices(
  ledger: PipelineParts["ledger"],
  key: StackKey,
  { containers }: ObservedStack,
): Promise<string[]> {
  const running = containers.filter((each) => each.state === "running");
  const labelled = running.filter(({ labels }) => isJobService(labels));
  const jobs = new Set(await awaitedJobs(ledger, key, labelled));
  return [...new Set(running.filter((each) => !jobs.has(each)).map((each) => each.service))];
}

/**
 * Those of the services that ran before a failed rollout which it may have left stopped. One that it kept, or
 * that runs by now, it has not: where that ends, it has done its work.
 */
export async function stoppedOf(
  { host: { engine }, ledger }: PipelineParts,
  { next: { release }, services, observed }: DecidedRollout,
  { ranBefore }: Intent,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const planned = new Set(
    services.filter(({ action }) => action === "keep").map((each) => each.name),
  );
  const running = (found: ObservedStack) => runningServices(ledger, release.key, found);
  const kept = (await running(observed)).filter((name) => planned.has(name));
  // An engine that does not answer cannot tell.
  const now = await observe(engine, release, signal).catch(() => undefined);
  const ran = new Set([...kept, ...now === undefined ? [] : await running(now)]);
  return ranBefore.filter((name) => !ran.has(name));
}
