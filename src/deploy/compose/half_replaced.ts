import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
} from "../../model/mod.ts";
import { isPartOfStack, observe } from "../observe.ts";
import { stopAndRemove } from "./act_on_services.ts";

/** Name of a new container while the old one exists: the old one's short id in front. */
const WAITING_NAME = /^[0-9a-f]{12}_/;
const SHORT_ID = 12;

/**
 * Name of an old container whose proven successor took its place: the successor's short id before
 * the old name.
 */
export function retiringName(successorId: string, name: string): string {
  return `${successorId.slice(0, SHORT_ID)}_${name}`;
}

/**
 * True for a container that was made to replace another one, if its maker died half-way. While it
 * exists the service cannot be replaced, because the temporary name is taken. A running one is from
 * our own rollout: compose starts a container only under its final name.
 */
export function isHalfReplaced({ labels, name, state }: ObservedContainer): boolean {
  const replaces = labels[COMPOSE_LABELS.replaces];
  if (replaces === undefined || !WAITING_NAME.test(name)) return false;
  return state === "created" || replaces.startsWith(name.slice(0, SHORT_ID));
}

/**
 * Clears replacements that an interrupted process left half done, see {@link isHalfReplaced}. The
 * new container is removed while the old one still serves. If the old one is gone or retiring, the
 * new one gets the final name: it serves, and it alone has the anonymous volumes. Call it before
 * planning how to go on; it may be called again, while nobody else works on the stack. Returns the
 * containers afterwards.
 */
export async function clearHalfReplaced(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  const halves = containers.filter(isHalfReplaced);
  for (const container of halves) {
    const { id } = container;
    const replaced = container.name.slice(0, SHORT_ID);
    const name = container.name.slice(SHORT_ID + 1);
    const old = containers.find((each) => each.id !== id && each.id.startsWith(replaced));
    const isRetiring = old?.name === retiringName(id, name);
    if (old !== undefined && isRetiring) await stopAndRemove(engine, old.id, signal);
    const isThere = !isRetiring &&
      (old !== undefined || containers.some((each) => each.name === name));
    if (isThere) {
      if (container.state !== "created") await engine.stopContainer(id, undefined, signal);
      await engine.removeContainer(id, { force: true, volumes: false }, signal);
    } else {
      await engine.renameContainer(id, name, signal);
    }
  }
  if (halves.length > 0) return await observe(engine, { key }, signal);
  return { containers: containers.filter(isPartOfStack) };
}
