import { dependenciesOf, serviceOf } from "../../compose/mod.ts";
import { createLimiter } from "../../system/mod.ts";
import type { EngineWork } from "./engine_work.ts";

/** Changes that one engine makes at once: more do not make it faster. */
const AT_ONCE = 4;

/**
 * Runs `work` for each service, several at once, but only after the services that it depends on.
 * After a failure no further work begins; the first failure is thrown once all running work has
 * ended, so that nothing changes behind the caller's back.
 *
 * Expects no dependency cycle: compose refuses those before.
 */
export async function alongDependencies(
  names: readonly string[],
  dependsOn: (name: string) => readonly string[],
  work: (name: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const limiter = createLimiter(AT_ONCE);
  const running = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  const run = (name: string): Promise<void> => {
    const begun = running.get(name);
    if (begun !== undefined) return begun;
    const before = dependsOn(name).filter((each) => each !== name && names.includes(each));
    const promise = Promise.resolve().then(async () => {
      await Promise.all(before.map(run));
      if (failures.length > 0) return;
      await limiter.run(() => failures.length > 0 ? Promise.resolve() : work(name), signal);
    }).catch((error) => void failures.push(error));
    running.set(name, promise);
    return promise;
  };
  await Promise.all(names.map(run));
  if (failures.length > 0) throw failures[0];
}

/** {@link alongDependencies} for the services of a step, with the dependencies in their model. */
export async function forEachService(
  { changes, model }: EngineWork,
  work: (service: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const dependsOn = (name: string) => dependenciesOf(serviceOf(model, name));
  await alongDependencies(Object.keys(changes.scale), dependsOn, work, signal);
}
