import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  LABELS,
  MANAGER,
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
  return {
    containers: containers.filter((each) =>
      each.labels[COMPOSE_LABELS.oneOff]?.toLowerCase() !== "true"
    ),
  };
}

/** Whose containers a stack has. */
export type Ownership = "nobody" | "ours" | "unmanaged";

/**
 * Decides whether a stack may be deployed from `sourceName` (decisions.md, taking over).
 *
 * Throws `conflict` when containers of that name were deployed from another source: two repositories
 * with one stack name would otherwise replace each other for ever.
 */
export function ownership(key: StackKey, observed: ObservedStack, sourceName: string): Ownership {
  const managed = observed.containers.filter((each) => each.labels[LABELS.manager] === MANAGER);
  const stranger = managed.find((each) => each.labels[LABELS.sourceName] !== sourceName);
  if (stranger !== undefined) {
    throw new StackwrightError(
      "conflict",
      `${key.name} already runs from ${
        stranger.labels[LABELS.sourceName]
      } (container ${stranger.name}), ` +
        `so it was not deployed from ${sourceName}; destroy it there first, or choose another name`,
    );
  }
  if (observed.containers.length === 0) return "nobody";
  return managed.length > 0 ? "ours" : "unmanaged";
}
