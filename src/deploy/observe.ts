import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
  StackwrightError,
} from "../model/mod.ts";

/** What an engine runs for a stack now, in one call; one-off containers are left out. */
export async function observe(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  return { containers: containers.filter(isPartOfStack) };
}

/**
 * What an engine runs for all its stacks, by compose project, in one call: what {@link observe} says
 * of each. A project that is not there has no containers.
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

/** Whose containers a stack has. */
export type Ownership = "nobody" | "ours" | "unmanaged";

/**
 * The name of the source that decides about a container: the one with its configuration. That is
 * stable, while the repository a configuration deploys from may change.
 */
export function ownerOf(labels: Readonly<Record<string, string>>): string | undefined {
  return labels[LABELS.sourceConfiguration] ?? labels[LABELS.sourceName];
}

/**
 * Decides whether a stack may be deployed by the configuration in `sourceName` (decisions.md, taking
 * over).
 *
 * Throws `conflict` when containers of that name were deployed by another source: two repositories
 * with one stack name would otherwise replace each other for ever.
 */
export function ownership(key: StackKey, observed: ObservedStack, sourceName: string): Ownership {
  const managed = observed.containers.filter((each) => each.labels[LABELS.manager] === MANAGER);
  const stranger = managed.find((each) => ownerOf(each.labels) !== sourceName);
  if (stranger !== undefined) {
    throw new StackwrightError(
      "conflict",
      `${key.name} already runs from ${ownerOf(stranger.labels)} (container ${stranger.name}), ` +
        `so it was not deployed from ${sourceName}; destroy it there first, or choose another name`,
    );
  }
  if (observed.containers.length === 0) return "nobody";
  return managed.length > 0 ? "ours" : "unmanaged";
}
