import type { Engine } from "../../docker/engine.ts";
import { COMPOSE_LABELS, type ObservedContainer, type StackKey } from "../../model/mod.ts";

/** Compose's own label on a container that it made to take the place of another one. */
const REPLACES = "com.docker.compose.replace";
/** The name such a container has until the other one is gone: that one's short id in front. */
const WAITING_NAME = /^[0-9a-f]{12}_/;
const SHORT_ID = 12;

/**
 * True when compose made the container to replace another one and ended before it did: it never
 * ran, and while it exists compose cannot replace that service any more, because the name is taken.
 */
export function isHalfReplaced(container: ObservedContainer): boolean {
  return container.state === "created" && container.labels[REPLACES] !== undefined &&
    WAITING_NAME.test(container.name);
}

/**
 * Clears what an interrupted compose left half done in a stack, see {@link isHalfReplaced}: it is
 * removed where the container it was to replace still exists. Where that one is gone already, it is
 * given its name, because nothing else has the anonymous volumes any more. Call it before deciding how
 * to go on. May be called at any time while no compose command works on the stack.
 */
export async function clearHalfReplaced(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  for (const container of containers.filter(isHalfReplaced)) {
    const id = container.name.slice(0, SHORT_ID);
    const name = container.name.slice(SHORT_ID + 1);
    const isThere = containers.some((each) => each.id.startsWith(id) || each.name === name);
    if (isThere) {
      await engine.removeContainer(container.id, { force: true, volumes: false }, signal);
    } else {
      await engine.renameContainer(container.id, name, signal);
    }
  }
}
