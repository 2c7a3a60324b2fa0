import { ASIDE } from "../../compose/mod.ts";
import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
} from "../../model/mod.ts";
import { leftHooks } from "../left_hooks.ts";
import { isPartOfStack, observe, requireFew } from "../observe.ts";
import { nameAside, stopAndRemove } from "./act_on_services.ts";

/**
 * True for a container that was made to replace another one, if its maker died half-way. While it
 * exists the service cannot be replaced, because the temporary name is taken. A running one is from
 * our own rollout: compose starts a container only under its final name.
 */
export function isHalfReplaced({ labels, name, state }: ObservedContainer): boolean {
  const replaces = labels[COMPOSE_LABELS.replaces];
  if (replaces === undefined || !ASIDE.test(name)) return false;
  return state === "created" || name.startsWith(nameAside(replaces, ""));
}

/**
 * Clears replacements that an interrupted process left half done, see {@link isHalfReplaced}. The
 * new container is removed while the old one still serves. If the old one is gone or retiring, the
 * new one gets the final name: it serves, and it alone has the anonymous volumes. A retiring one whose
 * successor has its name is removed. Call it before
 * planning how to go on; it may be called again, while nobody else works on the stack. Removes hooks of
 * services that compose left behind. Returns the containers afterwards.
 */
export async function clearHalfReplaced(
  engine: Engine,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  const halves = containers.filter(isHalfReplaced);
  const hooks = await leftHooks(engine, key, signal);
  // An engine may tell of any number.
  const byId = Map.groupBy(containers, ({ id }) => nameAside(id, ""));
  const names = new Set(containers.map(({ name }) => name));
  // Those that only end what they were asked: their successors have their names already.
  const retiring = containers.flatMap(({ id, name, labels }) => {
    const replaced = byId.get(nameAside(labels[COMPOSE_LABELS.replaces] ?? "", "")) ?? [];
    return replaced.filter((each) => each.name === nameAside(id, name));
  });
  for (const { id } of retiring) await stopAndRemove(engine, id, signal);
  for (const { id } of hooks) {
    await engine.removeContainer(id, { force: true, volumes: true }, signal);
  }
  for (const container of halves) {
    const { id } = container;
    const name = container.name.replace(ASIDE, "");
    const aside = byId.get(container.name.slice(0, -name.length || undefined)) ?? [];
    const old = aside.find((each) => each.id !== id);
    const isRetiring = old?.name === nameAside(id, name);
    if (old !== undefined && isRetiring) await stopAndRemove(engine, old.id, signal);
    const isThere = !isRetiring && (old !== undefined || names.has(name));
    if (isThere) {
      if (container.state !== "created") await engine.stopContainer(id, undefined, signal);
      await engine.removeContainer(id, { force: true, volumes: false }, signal);
    } else {
      await engine.renameContainer(id, name, signal);
    }
  }
  if (halves.length + retiring.length > 0) return await observe(engine, { key }, signal);
  return requireFew(key, { containers: containers.filter(isPartOfStack) });
}
