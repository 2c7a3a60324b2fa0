import { isOneOff } from "../docker/containers.ts";
import { isSwarmTask } from "../docker/observed_container.ts";
import type { Engine, LabelFilter } from "../docker/engine.ts";
import type { SwarmService, SwarmTask } from "../docker/swarm.ts";
import {
  beyondObserved,
  COMPOSE_LABELS,
  errors,
  isOurs,
  isStackwrightError,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type StackKey,
} from "../model/mod.ts";
import { engineVerdicts } from "./swarm/convergence.ts";
import { observedServices, requireFewTasks, tasksByService } from "./swarm/observed_services.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";

/** Identity of a stack for observing it: its key, and whether a swarm runs it. */
export type StackPlace = Pick<Release, "key" | "swarm">;

/**
 * The containers that an engine runs for a stack now, without one-off ones, by one call. For a
 * stack of a swarm, the containers that its services want, see {@link observedServices}.
 *
 * Throws `engine_refused` for more than may be looked at, see {@link beyondObserved}.
 */
export async function observe(
  engine: Engine,
  { key, swarm }: StackPlace,
  signal: AbortSignal,
): Promise<ObservedStack> {
  if (swarm !== undefined) return await observeServices(engine, key, signal);
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  return requireFew(key, { containers: containers.filter(isPartOfStack) });
}

/** What was observed of a stack. Throws `engine_refused` where that is more than may be looked at. */
export function requireFew({ name }: StackKey, observed: ObservedStack): ObservedStack {
  const beyond = beyondObserved(name, observed);
  if (beyond !== undefined) throw errors.engine_refused(beyond);
  return observed;
}

/** The services that a swarm runs for a stack now. Throws as {@link observe} does. */
export async function observeServices(
  { swarm }: Pick<Engine, "swarm">,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const { name } = key;
  const label = { [STACK_LABELS.namespace]: name };
  const services = await swarm.services(label, signal);
  requireFewTasks(services);
  const tasks = services.length === 0 ? [] : await swarm.tasks(label, signal);
  return requireFew(key, withVerdicts(name, services, tasks));
}

function withVerdicts(
  name: string,
  services: readonly SwarmService[],
  tasks: readonly SwarmTask[],
): ObservedStack {
  const verdicts = engineVerdicts(name, services, tasks);
  const observed = observedServices(name, services, tasks);
  return verdicts.length === 0 ? observed : { ...observed, verdicts };
}

/**
 * The containers of all stacks of an engine, or of one, by compose project, in one call; each as
 * {@link observe} returns it, but of any size: judge none without {@link beyondObserved}. A project that
 * does not exist has no entry.
 */
export async function observeAll(
  engine: Engine,
  signal: AbortSignal,
  { withServices = false, stack }: {
    /** Whether services of a swarm are included; only a manager can list them. */
    readonly withServices?: boolean;
    /** Name of the only stack to observe. */
    readonly stack?: string | undefined;
  } = {},
): Promise<ReadonlyMap<string, ObservedStack>> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: stack }, signal);
  const mine = containers.filter(isPartOfStack);
  const projects = Map.groupBy(mine, ({ labels }) => labels[COMPOSE_LABELS.project] ?? "");
  const stacks = new Map<string, ObservedStack>(
    [...projects].map(([name, containers]) => [name, { containers }]),
  );
  if (!withServices) return stacks;
  const label = { [STACK_LABELS.namespace]: stack };
  const services = await servicesOf(engine, label, signal);
  requireFewTasks(services);
  const byStack = Map.groupBy(services, ({ labels }) => labels[STACK_LABELS.namespace] ?? "");
  const tasks = stack === undefined
    ? await tasksOfAll(engine, [...byStack.keys()], {}, signal)
    : await engine.swarm.tasks(label, signal);
  const tasksOf = tasksByService(tasks);
  for (const [name, own] of byStack) {
    // A compose project of the same name that somebody else runs is not part of this stack.
    const before = stacks.get(name)?.containers.filter(isOurs) ?? [];
    const observed = withVerdicts(name, own, own.flatMap(tasksOf));
    stacks.set(name, { ...observed, containers: [...before, ...observed.containers] });
  }
  return stacks;
}

/** The services with a label; stack by stack where the answer is too large, as below. */
async function servicesOf(
  { swarm }: Pick<Engine, "swarm">,
  label: LabelFilter,
  signal: AbortSignal,
): Promise<SwarmService[]> {
  const find = (label: LabelFilter) => swarm.services(label, signal);
  return await find(label).catch(async (error) => {
    const isOfAll = label[STACK_LABELS.namespace] === undefined;
    if (!isOfAll || !isStackwrightError(error, "engine_refused")) throw error;
    const names = (await swarm.services({}, signal)).flatMap(({ labels }) =>
      labels[STACK_LABELS.namespace] ?? []
    );
    return await eachStack([...new Set(names)], find);
  });
}

/** What is found of each stack; nothing of one whose own answer is too large to read. */
async function eachStack<T>(stacks: readonly string[], find: (label: LabelFilter) => Promise<T[]>) {
  const found: T[] = [];
  for (const stack of stacks) {
    const own = await find({ [STACK_LABELS.namespace]: stack }).catch((error) => {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      return [];
    });
    for (const each of own) found.push(each);
  }
  return found;
}

/**
 * The tasks of all stacks with the labels `more`: by one call, or stack by stack where the engine's answer
 * is too large to read. Repositories decide how large their tasks are.
 */
export async function tasksOfAll(
  { swarm }: Pick<Engine, "swarm">,
  stacks: readonly string[],
  more: LabelFilter,
  signal: AbortSignal,
): Promise<SwarmTask[]> {
  try {
    return await swarm.tasks({ [STACK_LABELS.namespace]: undefined, ...more }, signal);
  } catch (error) {
    if (!isStackwrightError(error, "engine_refused")) throw error;
  }
  return await eachStack(stacks, (label) => swarm.tasks({ ...label, ...more }, signal));
}

/** Whether a container of a stack's project is its own: one-off ones and swarm tasks are not. */
export function isPartOfStack(container: ObservedContainer): boolean {
  return !isOneOff(container) && !isSwarmTask(container);
}
