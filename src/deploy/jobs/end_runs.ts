import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  isOurs,
  isSameOwner,
  type NotedJob,
  type ObservedContainer,
  STACK_NAMESPACE,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { requireFewThings } from "../destroy.ts";
import { isDown } from "../left_orphans.ts";
import { isJobRun } from "../running_jobs.ts";
import { containerRuns } from "./container_jobs.ts";
import { endRun, MOST_STOPS, type RunEndParts, type RunsEngine } from "./end_run.ts";
import { ownerOfRun } from "./execution.ts";
import { activeSwarmJobs } from "./find_swarm_jobs.ts";
import type { FoundJob } from "./found_job.ts";
import { different, isInSwarm, type RunNotes } from "./left_run.ts";
import { idleService, swarmRuns } from "./swarm_jobs.ts";

/**
 * Whether something runs a job in the name of another owner than the stack's, to whom a person handed it
 * over: the process that began it has ended, and left it under way.
 */
export function isFormerRun(
  container: Pick<ObservedContainer, "name" | "labels">,
  owner: StackOwner & { readonly adopted: boolean } | undefined,
): boolean {
  if (owner?.adopted !== true || !isJobRun(container) || !isOurs(container)) return false;
  const began = ownerOfRun(container.labels);
  return began !== undefined && !isSameOwner(began, owner);
}

/** Runs of a stack's jobs to end, which no process waits for. */
export interface RunsToEnd {
  readonly key: StackKey;
  readonly isStack: boolean;
  /** Whether to end a run. */
  readonly ends: (run: ObservedContainer) => boolean;
  /** Seconds that a run has to stop before what it has stopped starts; its own grace period by default. */
  readonly seconds?: number;
  /** Refuses, by throwing, to end more: asked before each. */
  readonly requireStill?: (() => void) | undefined;
}

/** Ports for the end of runs. */
export interface RunsEndParts extends Pick<RunEndParts, "clock" | "log"> {
  readonly engine: Pick<
    Engine,
    | "info"
    | "inspectContainer"
    | "listContainers"
    | "removeContainer"
    | "startContainer"
    | "stopContainer"
    | "swarm"
  >;
  /** The check before something of a stack is started in the name of the owner of a run. */
  readonly startable: (owner: StackOwner | undefined) => RunEndParts["requireStartable"];
  /** The record of what could not be started that runs of a service of the stack have stopped. */
  readonly notesOf: (service: string) => RunNotes;
}

/**
 * Ends runs of a stack's jobs, and starts again what they have stopped in other stacks: what they have
 * stopped in this one is left to the deployment or removal that ends them. Returns their names,
 * sorted. May be called twice.
 */
export async function endRuns(
  parts: RunsEndParts,
  { key, isStack, ends, seconds, requireStill }: RunsToEnd,
  signal: AbortSignal,
): Promise<string[]> {
  const { engine, startable } = parts;
  const all = isStack
    ? await activeSwarmJobs(engine, key.name, signal)
    : await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  const runs = requireFewThings(
    key,
    isStack ? "service" : "container",
    all.filter((each) => isJobRun(each) && ends(each)),
    isStack ? STACK_NAMESPACE : COMPOSE_LABELS.project,
  );
  for (const { id, service, labels } of runs) {
    requireStill?.();
    const ending = { ...parts, key, service, requireStartable: startable(ownerOfRun(labels)) };
    if (isStack) {
      await endOne(ending, runsOf(engine, isStack), id, signal);
      continue;
    }
    await engine.stopContainer(id, seconds, signal);
    // A container takes as long to stop as it likes.
    requireStill?.();
    await endOne(ending, runsOf(engine, isStack), id, signal);
  }
  return runs.map(({ name }) => name).sort();
}

function runsOf(engine: RunsEndParts["engine"], isStack: boolean): RunsEngine<unknown> {
  // What is stopped is what the same engine has told before.
  return (isStack ? swarmRuns(engine.swarm) : containerRuns(engine)) as RunsEngine<unknown>;
}

/**
 * Starts again what runs of a stack's jobs have stopped whose container or service is gone, so that only a note
 * tells of it, and removes the note; keeps that of what could not be started. May be called twice.
 */
export async function endGoneRuns(
  { engine, ...parts }: RunsEndParts,
  { noted: { key, service, ...run }, owner }: {
    readonly noted: NotedJob;
    /** In whose name what it stopped is started. */
    readonly owner: StackOwner | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const runs = runsOf(engine, isInSwarm(run));
  if (await runs.made(run.id, signal) !== undefined) return;
  const notes = parts.notesOf(service);
  const keep = (stops: readonly unknown[]) =>
    stops.length === 0 ? notes.remove() : notes.set({ ...run, stops });
  const ending = { ...parts, engine, key, service, requireStartable: parts.startable(owner) };
  const isGone = async (each: unknown) => await runs.stackOf(each, signal) === "";
  await endRun(ending, runs, { stopped: await unlike(run.stops, isGone), keep }, signal);
}

/**
 * Stops, at once, what jobs run in their own containers and services: their author decides how long these
 * take. Returns their names, sorted. May be called twice.
 */
export async function haltJobs(
  { engine }: Pick<RunsEndParts, "engine">,
  jobs: readonly FoundJob[],
  signal: AbortSignal,
): Promise<string[]> {
  const running = jobs.filter(({ scale, container }) => scale > 0 && !isDown(container));
  for (const { container: { id }, swarm } of running) {
    if (swarm === undefined) await engine.stopContainer(id, 0, signal);
    else await idleService(engine.swarm, swarm, signal);
  }
  return running.map(({ container }) => container.name).sort();
}

async function endOne<Stopped>(
  { notesOf, ...parts }: RunEndParts & Pick<RunsEndParts, "notesOf">,
  runs: RunsEngine<Stopped>,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { stops = [] } = await runs.made(id, signal) ?? {};
  const isOwn = async (each: Stopped) => await runs.stackOf(each, signal) === parts.key.name;
  const stopped = await unlike(stops, isOwn);
  const keep = (left: readonly Stopped[]) => {
    if (left.length === 0) return;
    const notes = notesOf(parts.service);
    const stops = different([...left, ...notes.get()?.stops ?? []]);
    notes.set({ id, stops, mayRun: true, isOver: true, isOwn: true });
  };
  await endRun(parts, runs, { stopped, keep }, signal);
  // Unlike what was stopped, a run that cannot be removed is an error: it would go on.
  await runs.remove(id, signal);
}

/** The stopped of which something does not hold, of as many as one run stops. */
async function unlike<Stopped>(
  stops: readonly Stopped[],
  holds: (each: Stopped) => Promise<boolean>,
): Promise<Stopped[]> {
  const rest: Stopped[] = [];
  for (const each of stops.slice(0, MOST_STOPS)) {
    if (!await holds(each)) rest.push(each);
  }
  return rest;
}
