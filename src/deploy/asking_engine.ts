import type { Engine } from "../docker/mod.ts";

/**
 * Calls of an engine that make, start, change or remove something; but for `connectNetwork`, which gives a
 * container a network back that the call before it took away.
 */
const CHANGING = [
  "createContainer",
  "makeContainer",
  "unpackInto",
  "startContainer",
  "stopContainer",
  "restartContainer",
  "renameContainer",
  "setRestartPolicy",
  "unpauseContainer",
  "killContainer",
  "removeContainer",
  "removeImage",
  "tagImage",
  "makeVolume",
  "removeVolume",
  "makeNetwork",
  "disconnectNetwork",
  "removeNetwork",
] as const;
const CHANGING_SWARM = [
  "createService",
  "updateService",
  "removeService",
  "createObject",
  "removeObject",
] as const;

/**
 * An engine that asks before each call by which something becomes another, so that no step can
 * forget it, in either mode: a stack may be handed over at any moment; then `ask` throws, or aborts the
 * signal of the call. It is not for what puts somebody's own containers back, which would be left half done.
 */
export function askingEngine<E extends Engine>(engine: E, ask: (() => void) | undefined): E {
  if (ask === undefined) return engine;
  const { swarm } = engine;
  return {
    ...engine,
    ...asking(engine, CHANGING, ask),
    swarm: { ...swarm, ...asking(swarm, CHANGING_SWARM, ask) },
  };
}

/** A host whose engine asks, see {@link askingEngine}, and so do all steps of a rollout on it. */
export function askingHost<H extends { readonly engine: Engine }>(host: H, ask?: () => void): H {
  return { ...host, engine: askingEngine(host.engine, ask) };
}

function asking<T extends object, K extends keyof T>(of: T, names: readonly K[], ask: () => void) {
  return Object.fromEntries(names.map((name) => {
    const call = of[name] as (...args: readonly unknown[]) => Promise<unknown>;
    const asked = async (...args: readonly unknown[]) => {
      ask();
      return await call(...args);
    };
    return [name, asked];
  }));
}
