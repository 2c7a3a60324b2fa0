import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
} from "../../model/mod.ts";
import { isPartOfStack, observe } from "../observe.ts";
import { stopAndRemove } from "./act_on_services.ts";

/** The name of a container that is to replace another one until that is gone: that one's short id in front. */
const WAITING_NAME = /^[0-9a-f]{12}_/;
const SHORT_ID = 12;

/**
 * The name of an old container whose successor has proved that it works and is found in its place: that
 * one's short id in front.
 */
export function retiringName(successorId: string, name: string): string {
  return `${successorId.slice(0, SHORT_ID)}_${name}`;
}

/**
 * True when a container was made to replace another one and whoever made it ended before it did: while
 * it exists that service cannot be replaced any more, because the name is taken. One that runs is ours:
 * compose starts none before it has its name.
 */
export function isHalfReplaced({ labels, name, state }: ObservedContainer): boolean {
  const replaces = labels[COMPOSE_LABELS.replaces];
  if (replaces === undefined || !WAITING_NAME.test(name)) return false;
  return state === "created" || replaces.startsWith(name.slice(0, SHORT_ID));
}

/**
 * Clears what somebody who ended left half done in a stack, see {@link isHalfReplaced}: the new
 * container is removed where the one it was to replace still serves. Where that one is gone already, or
 * only finishes what it was asked, the new one gets its name: nothing else has the anonymous volumes any
 * more, and it serves. Call it before deciding how to go on. May be called at any time while nobody else
 * works on the stack. Returns what is there then.
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
