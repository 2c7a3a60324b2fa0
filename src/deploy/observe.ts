import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
} from "../model/mod.ts";

/** The containers that an engine runs for a stack now, in one call; one-off ones are left out. */
export async function observe(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  return { containers: containers.filter(isPartOfStack) };
}

/**
 * The containers of all stacks of an engine, by compose project, in one call: what {@link observe}
 * says of each. A project that is not there has no containers.
 */
export async function observeAll(
  engine: Engine,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ObservedStack>> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: undefined }, signal);
  const mine = containers.filter(isPartOfStack);
  const projects = Map.groupBy(mine, ({ labels }) => labels[COMPOSE_LABELS.project] ?? "");
  return new Map([...projects].map(([name, found]) => [name, { containers: found }]));
}

function isPartOfStack({ labels }: ObservedContainer): boolean {
  return labels[COMPOSE_LABELS.oneOff]?.toLowerCase() !== "true";
}
