import type { Release, StackKey } from "../../model/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { cannotManage } from "./swarm_now.ts";

/**
 * Whether there may be services of a stack's name, of which nothing is recorded. Throws `engine_refused` where
 * they may be in a swarm that is not up yet: containers would write to their volumes beside them.
 */
export async function mayHaveServices(
  { host: { engine } }: Pick<PipelineParts, "host">,
  key: StackKey,
  signal: AbortSignal,
): Promise<boolean> {
  const { swarm: role } = await engine.info(signal);
  if (role !== "other") return role === "manager";
  throw cannotManage(
    `${key.name} is deployed for the first time, and services of that name may be in a swarm`,
  );
}

/**
 * Whether a stack may have services on its engine: true on a manager, also where
 * `CONTAINER_SWARM_FEATURES` is off unless the stack is recorded as containers; false where the
 * engine has left its swarm.
 *
 * Throws `engine_refused` where recorded services go on in a swarm that the engine cannot be asked about
 * now: taking them for gone would run everything twice, or leave them for ever.
 */
export async function managesServices(
  { host }: Pick<PipelineParts, "host">,
  key: StackKey,
  recorded: Pick<Release, "swarm"> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const isContainers = recorded !== undefined && recorded.swarm === undefined;
  const { swarm: role } = await (isContainers ? host : host.engine).info(signal);
  if (recorded?.swarm === undefined || role === "manager" || role === "inactive") {
    return role === "manager";
  }
  throw cannotManage(`${key.name} is a stack of a swarm`);
}
