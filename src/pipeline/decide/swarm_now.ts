import { errors, type StackwrightError, type SwarmRelease } from "../../model/mod.ts";
import { swarmOf } from "../../plan/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import type { PipelineParts } from "../parts.ts";

/**
 * Swarm options of a target's release, see {@link swarmOf}. What makes the first release of a stack, or one of
 * the other mode, is asked of the engine anew: what is remembered of it may be from before its swarm was up,
 * and a whole stack is removed for it. Ask again right before that.
 *
 * Throws as {@link swarmOf} does, and `engine_refused` for a first release whose mode the engine cannot tell yet.
 */
export async function swarmNow(
  { host, ledger }: Pick<PipelineParts, "host" | "ledger">,
  { key, deployment }: Pick<Target, "key" | "deployment">,
  signal: AbortSignal,
): Promise<SwarmRelease | undefined> {
  const recorded = ledger.current(key);
  const { enabled } = deployment.swarm;
  const known = await host.info(signal);
  const isStack = enabled ?? known.swarm === "manager";
  if (recorded !== undefined && isStack === (recorded.swarm !== undefined)) {
    return swarmOf(deployment, known);
  }
  const now = await host.info(signal, { anew: true });
  if (recorded === undefined && enabled === undefined && now.swarm === "other") {
    throw cannotManage(`${key.name} is deployed for the first time, and may be a stack of a swarm`);
  }
  return swarmOf(deployment, now);
}

/**
 * The error for a stack of a swarm that its engine cannot be asked about, such as `shop is a stack of a
 * swarm`. It is no conflict, which ends what was begun: an engine that was restarted is a manager again soon.
 */
export function cannotManage(what: string): StackwrightError {
  return errors.engine_refused(
    `${what} which its engine cannot manage now (docker info says more: it is a worker, locked, or not up ` +
      "yet), so what runs of it is not known. Nothing was changed; make the engine a manager again, or " +
      "have it leave the swarm",
  );
}
