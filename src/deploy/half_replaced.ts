import type { Engine } from "../docker/engine.ts";
import { COMPOSE_LABELS, type ObservedContainer, type StackKey } from "../model/mod.ts";

/** Compose's own label on a container that it made to take the place of another one. */
const REPLACES = "com.docker.compose.replace";
/** The name such a container has until the other one is gone: that one's short id in front. */
const WAITING_NAME = /^[0-9a-f]{12}_/;

/**
 * Whether compose made the container to replace another one and ended before it did: it never ran,
 * and while it exists compose cannot replace that service any more, because the name is taken.
 */
export function isHalfReplaced(container: ObservedContainer): boolean {
  return container.state === "created" && container.labels[REPLACES] !== undefined &&
    WAITING_NAME.test(container.name);
}

/**
 * Removes what an interrupted compose left half done in a stack, see {@link isHalfReplaced}. Call it
 * before deciding how to go on. May be called at any time while no compose command works on the stack.
 */
export async function removeHalfReplaced(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const project = { [COMPOSE_LABELS.project]: key.name };
  for (const container of await engine.listContainers(project, signal)) {
    if (!isHalfReplaced(container)) continue;
    await engine.removeContainer(container.id, { force: true, volumes: false }, signal);
  }
}
