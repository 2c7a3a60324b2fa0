import type { ContainerDetails, EngineClient, SwarmService } from "../docker/mod.ts";
import { asRecord } from "../docker/json.ts";
import { COMPOSE_LABELS, errors, isJobService, LABELS, SWARM_TASK } from "../model/mod.ts";
import type { StackwrightError } from "../model/mod.ts";
import { getsTasks } from "./jobs/swarm_job.ts";
import { taskLabels } from "./swarm/observed_services.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** The container of this process, as far as its project is known by it. */
type Own = Pick<ContainerDetails, "container">;

/** Something of an engine, by which it is told whether it is ours. */
interface Thing {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Names of the project and the stack that this process runs in; none where it is of neither. */
export function ownProjects({ container: { labels } }: Own): readonly string[] {
  return [labels[COMPOSE_LABELS.project], labels[STACK_LABELS.namespace]]
    .filter((name) => name !== undefined);
}

/** The error for a change of what Stackwright runs in; `what` says what that would be. */
export function ownProjectError({ container }: Own, what: string): StackwrightError {
  return errors.conflict(
    `${what} that Stackwright itself runs in (container ${container.name}), which it ` +
      "does not change; nothing was done. Choose another name, or change that project by hand, as " +
      "with `docker compose up` on its host",
  );
}

/**
 * An engine that stops, restarts, renames and removes neither the container of this process nor
 * anything of the project or stack that it is part of, whoever asks and why: nobody could start it
 * again. Runs of that project's jobs are ended and removed as always. With `asked`, for what a
 * person asks, it restarts all of that.
 *
 * Those calls throw `conflict`.
 */
export function sparingEngine(
  engine: EngineClient,
  own: (signal: AbortSignal) => Promise<Own | undefined>,
  { asked }: { readonly asked: boolean } = { asked: false },
): EngineClient {
  const { swarm } = engine;
  const containers: Find = async (id, signal) => {
    const found = await engine.inspectContainer(id, signal);
    // Nobody stops tasks of a swarm one by one.
    const isTask = (await own(signal))?.container.labels[SWARM_TASK] !== undefined;
    const labels = isTask ? {} : found?.container.labels ?? {};
    return found === undefined ? [] : [{ ...found.container, labels }];
  };
  const services: Find = async (id, signal) => {
    const found = await swarm.service(id, signal);
    return found === undefined ? [] : [{ ...found, labels: labelsOf(found) }];
  };
  const spared = <A extends readonly unknown[]>(
    call: (id: string, ...rest: A) => Promise<void>,
    find: Find,
    isSpared: IsSpared = () => true,
  ) =>
  async (id: string, ...rest: A) => {
    await requireSpared({ own, find, isSpared }, id, rest.at(-1) as AbortSignal);
    await call(id, ...rest);
  };
  return {
    ...engine,
    stopContainer: spared(engine.stopContainer, containers, isNoJob),
    restartContainer: asked
      ? engine.restartContainer
      : spared(engine.restartContainer, containers, isNoJob),
    renameContainer: spared(engine.renameContainer, containers),
    killContainer: spared(engine.killContainer, containers, isNoJob),
    removeContainer: spared(engine.removeContainer, containers, isNoRun),
    removeVolume: spared(engine.removeVolume, (name, signal) => engine.findVolumes([name], signal)),
    removeNetwork: spared(engine.removeNetwork, (id, signal) => engine.findNetworks([id], signal)),
    swarm: {
      ...swarm,
      async updateService(service, change, signal) {
        const isRestart = asked && getsTasks(asRecord(change.body));
        const which = { own, find: services, isSpared: isNoJob };
        if (!isRestart) await requireSpared(which, service.id, signal);
        await swarm.updateService(service, change, signal);
      },
      removeService: spared(swarm.removeService, services, isNoRun),
      async removeObject(kind, id, signal) {
        const find: Find = async () =>
          (await swarm.objects(kind, { [STACK_LABELS.namespace]: undefined }, signal))
            .filter((each) => each.id === id);
        await requireSpared({ own, find, isSpared: () => true }, id, signal);
        await swarm.removeObject(kind, id, signal);
      },
    },
  };
}

type Find = (id: string, signal: AbortSignal) => Promise<readonly Thing[]>;
type IsSpared = (thing: Thing) => boolean;

/** Throws `conflict` for what is found to be of the project that this process runs in. */
async function requireSpared(
  { own, find, isSpared }: {
    readonly own: (signal: AbortSignal) => Promise<Own | undefined>;
    readonly find: Find;
    readonly isSpared: IsSpared;
  },
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const us = await own(signal);
  if (us === undefined) return;
  const { labels } = us.container;
  const task = labels[SWARM_TASK];
  // The other label may be from an image, whose author chose it.
  const label = task === undefined ? COMPOSE_LABELS.project : STACK_LABELS.namespace;
  const name = labels[label];
  const found = (await find(id, signal)).find((each) =>
    each.id === us.container.id || each.id === task ||
    name !== undefined && each.labels[label] === name && isSpared(each)
  );
  if (found !== undefined) {
    throw ownProjectError(us, `${found.name} is, or belongs to, the project`);
  }
}

function isNoRun({ labels }: Thing): boolean {
  return labels[LABELS.jobRun] === undefined;
}

function isNoJob(thing: Thing): boolean {
  return isNoRun(thing) && !isJobService(thing.labels);
}

function labelsOf(service: SwarmService): Thing["labels"] {
  return { ...taskLabels(service), ...service.labels };
}
