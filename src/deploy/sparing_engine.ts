import type { EngineClient, OwnContainer, SwarmService } from "../docker/mod.ts";
import { asRecord } from "../docker/json.ts";
import { COMPOSE_LABELS, errors, isJobService, LABELS, SWARM_TASK } from "../model/mod.ts";
import type { ObservedContainer, StackwrightError } from "../model/mod.ts";
import { getsTasks } from "./jobs/swarm_job.ts";
import { taskLabels } from "./swarm/observed_services.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** The container of this process, and those that it needs, as far as their projects are known by them. */
type Own = Pick<OwnContainer, "container" | "lenders">;

/** Something of an engine, by which it is told whether it is ours. */
type Thing = Pick<ObservedContainer, "id" | "name" | "labels">;

/** The containers that this process cannot do without. */
export function vitalContainers({ container, lenders = [] }: Own): readonly ObservedContainer[] {
  return [container, ...lenders.map((each) => each.container)];
}

/** The first of {@link vitalContainers} in a project or stack. */
export function vitalIn(own: Own, project: string): ObservedContainer | undefined {
  return vitalContainers(own).find(({ labels }) =>
    labels[COMPOSE_LABELS.project] === project || labels[STACK_LABELS.namespace] === project
  );
}

/** Words for what one of {@link vitalContainers} is to this process. */
export function isVitalAs({ container }: Own, { id, name }: ObservedContainer): string {
  return id === container.id
    ? `that Stackwright itself runs in (container ${name})`
    : `that has the network or processes which Stackwright itself uses (container ${name})`;
}

/** The error for a change of a project with one of {@link vitalContainers}; `what` says what that is. */
export function ownProjectError(
  own: Own,
  vital: ObservedContainer,
  what: string,
): StackwrightError {
  return errors.conflict(
    `${what} ${isVitalAs(own, vital)}, which it ` +
      "does not change; nothing was done. Choose another name, or change that project by hand, as " +
      "with `docker compose up` on its host",
  );
}

/**
 * An engine that stops, restarts, renames and removes neither the container of this process, nor those
 * whose namespaces it has, nor anything of the project or stack that one of them is part of, whoever asks
 * and why: nobody could start it again, or it would be cut off. Runs of that project's jobs are ended and
 * removed as always. With `asked`, for what a person asks, it restarts all of that.
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
    setRestartPolicy: spared(engine.setRestartPolicy, containers),
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
  const things = await find(id, signal);
  for (const vital of vitalContainers(us)) {
    const { labels } = vital;
    const task = labels[SWARM_TASK];
    // The other label may be from an image, whose author chose it.
    const label = task === undefined ? COMPOSE_LABELS.project : STACK_LABELS.namespace;
    const name = labels[label];
    const found = things.find((each) =>
      each.id === vital.id || each.id === task ||
      name !== undefined && each.labels[label] === name && isSpared(each)
    );
    if (found === undefined) continue;
    throw ownProjectError(us, vital, `${found.name} is, or belongs to, the project`);
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
