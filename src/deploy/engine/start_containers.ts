import { isStackwrightError, type ObservedContainer } from "../../model/mod.ts";
import { isObject, objectAt, serviceOf, textAt } from "../../compose/mod.ts";
import { awaitConditions } from "../await_conditions.ts";
import type { StartCondition } from "../conditions.ts";
import { observe } from "../observe.ts";
import { forEachService } from "./along_dependencies.ts";
import type { EngineWork } from "./engine_work.ts";
import { attempt, type MadeContainers, numberOf, putFiles } from "./make_containers.ts";

/**
 * Starts the containers that do not run, each service once its dependencies among the changed ones
 * meet their conditions; other dependencies were awaited before. After a replacement the new
 * containers are known, so no time is lost on observing while nothing serves.
 */
export async function startContainers(
  work: EngineWork,
  { made }: Pick<MadeContainers, "made">,
  signal: AbortSignal,
): Promise<void> {
  const { parts: { engine }, changes } = work;
  const isKnown = changes.mode === "replace";
  const { containers } = isKnown ? { containers: [] } : await observe(engine, changes, signal);
  await forEachService(work, async (service) => {
    await awaitDependencies(work, service, signal);
    if (!isKnown) return await startStopped(work, { service, containers }, signal);
    const mine = made.filter((each) => each.service === service);
    for (const each of mine.sort((a, b) => a.number - b.number)) await start(work, each, signal);
  }, signal);
}

/** Starts a container after running `prepare`. Throws `deploy_failed`. */
export async function start(
  { parts: { engine }, tell }: EngineWork,
  { service, id, name }: Pick<ObservedContainer, "service" | "id" | "name">,
  signal: AbortSignal,
  prepare?: () => Promise<void>,
): Promise<void> {
  await attempt(`service ${service}: container ${name} could not be started`, async () => {
    await prepare?.();
    await engine.startContainer(id, signal);
  });
  tell(`Container ${name} Started`);
}

/** Starts the stopped containers of a service. */
export async function startStopped(
  work: EngineWork,
  { service, containers }: {
    readonly service: string;
    readonly containers: readonly ObservedContainer[];
  },
  signal: AbortSignal,
): Promise<void> {
  const stopped = containers.filter((each) => each.service === service)
    .filter(({ state }) => state !== "running" && state !== "restarting")
    .sort((a, b) => numberOf(a) - numberOf(b));
  for (const each of stopped) {
    // A process that died after making the container may not have put its files there.
    const prepare = async () => {
      if (each.state === "created") await putFiles(work, each, signal);
    };
    await start(work, each, signal, prepare);
  }
}

/** Waits for a service's dependencies among the changed ones. */
export async function awaitDependencies(
  { parts: { engine, clock }, changes, model }: EngineWork,
  dependent: string,
  signal: AbortSignal,
): Promise<void> {
  const wanted = objectAt(serviceOf(model, dependent), "depends_on");
  const deadline = clock.uptime() + changes.timeoutMs;
  for (const [dependency, how] of Object.entries(wanted)) {
    if (!isObject(how) || (changes.scale[dependency] ?? 0) === 0) continue;
    const condition = textAt(how, "condition") || "service_started";
    const conditions: StartCondition[] = [{ dependent, dependency, condition }];
    const { key, progress } = changes;
    await awaitConditions({ engine, clock, key, conditions, deadline, progress }, signal)
      .catch((error) => {
        // A dependency that is not required only has to be started first.
        if (how["required"] === false && isStackwrightError(error, "unhealthy")) return;
        throw error;
      });
  }
}
