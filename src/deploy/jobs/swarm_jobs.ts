import type { JsonRecord } from "../../docker/json.ts";
import type { EngineClient, SwarmService } from "../../docker/mod.ts";
import { errors, type StackOwner } from "../../model/mod.ts";
import { withDeadline } from "../../system/mod.ts";
import { holdsSomething, imageOf } from "../swarm/observed_services.ts";
import { postAgain } from "../swarm/post_again.ts";
import { STACK_LABELS } from "../swarm/stack_parts.ts";
import type { RunsEngine } from "./end_run.ts";
import type { InTurn, JobEngine, JobRunFacts, OwnOfRun } from "./job_run.ts";
import {
  active,
  executionBody,
  idle,
  isIdle,
  rerunBody,
  runState,
  type StoppedService,
  stopsOfService,
} from "./swarm_job.ts";

/** Milliseconds between two looks at tasks. */
const INTERVAL_MS = 1000;
/** Seconds that tasks of a stopped service have to end, unless the order says otherwise. */
const STOP_SECONDS = 60;

interface SwarmJobFacts extends Pick<JobRunFacts, "clock" | "found" | "log" | "spec" | "progress"> {
  readonly swarm: EngineClient["swarm"];
  /** Id of the job's service, which is read anew: what an engine tells of it may have megabytes. */
  readonly service: string;
  /** Few are made at once. */
  readonly making: InTurn;
  readonly nextId: () => string;
  readonly owner?: StackOwner | undefined;
  /** Credentials for the registry of an image, in the engine's format. */
  readonly auth: (image: string) => Promise<string>;
}

/** Runs jobs in a swarm: the job's own service again, or a new one like it, first without tasks. */
export function swarmJobs(facts: SwarmJobFacts): JobEngine<StoppedService> {
  const { swarm, service, clock } = facts;
  return {
    noun: "service",
    toStop: (signal) => toStop(facts, signal),
    stop: (stopped, signal) => stop(facts, stopped, signal),
    ...swarmRuns(swarm),
    async requireRestart(signal) {
      rerunBody(await required(swarm, service, signal), clock.now());
    },
    async restart(signal) {
      const change = (now: SwarmService) => rerunBody(now, clock.now());
      await post(swarm, { id: service, change }, signal);
      return service;
    },
    make: (told, _files, signal) => make(facts, told, signal),
    exitCode: (id, signal) => exitCode(facts, id, signal),
    // The output first: it vanishes with the tasks. `remove` removes a run's service.
    async cutShort(id, keep, signal) {
      await keep();
      if (id === service) await idleService(swarm, id, signal);
    },
    halt: (signal) => idleService(swarm, service, signal),
    printed: (id, lines, signal) => swarm.serviceLogs(id, lines, signal),
  };
}

/** The end of a job's own service: it gets no tasks. */
export async function idleService(
  swarm: Pick<Swarm, "service" | "updateService">,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await post(swarm, { id, change: ({ spec }) => idle(spec) }, signal);
}

async function toStop(
  { swarm, log, found: { key: { context } }, spec: { stopServices } }: SwarmJobFacts,
  signal: AbortSignal,
): Promise<StoppedService[]> {
  if (stopServices.length === 0) return [];
  const names = Map.groupBy(stopServices, ({ project, service }) => `${project}_${service}`);
  const all = await swarm.namedServices([...names.keys()], signal);
  // Stack `a` has `b_c` where `a_b` has `c`: the stack's label tells them apart.
  const isNamed = ({ name, labels }: SwarmService) =>
    names.get(name)?.some(({ project }) => project === labels[STACK_LABELS.namespace]) === true;
  return all.filter(isNamed).flatMap(({ id, name, mode }) => {
    if (mode.kind === "replicated") {
      return mode.replicas === 0 ? [] : [{ id, replicas: mode.replicas }];
    }
    log.warning(`${name} runs on every node, or is a job: it is not stopped for a job`, {
      context,
    });
    return [];
  });
}

/** Scales a service to zero, and waits until its tasks have ended. */
async function stop(
  { swarm, clock, spec: { stopTimeoutSeconds: seconds = STOP_SECONDS } }: SwarmJobFacts,
  { id }: StoppedService,
  signal: AbortSignal,
): Promise<void> {
  const late = () => errors.timeout(`tasks did not end within ${seconds} s`);
  await withDeadline({ clock, milliseconds: seconds * 1000, late }, async (within) => {
    await post(swarm, { id, change: (now) => scaled(now, 0) }, within);
    for (;;) {
      const tasks = await swarm.tasksOf(id, within);
      if (!tasks.some(holdsSomething)) return;
      await clock.sleep(INTERVAL_MS, within);
    }
  }, signal);
}

/** Makes a service without files of its own: configs and secrets are the swarm's. */
async function make(
  facts: SwarmJobFacts,
  told: (own: OwnOfRun<StoppedService>) => void,
  signal: AbortSignal,
) {
  const { swarm, service, auth, making, nextId, owner, spec } = facts;
  const stops = await toStop(facts, signal);
  const execution = { runId: nextId(), stops, owner, completions: spec.swarmReplicas ?? 1 };
  const id = await making(async () => {
    const like = await required(swarm, service, signal);
    const body = idle(executionBody(like, execution));
    return await swarm.createService({ body, auth: await auth(imageOf(like)) }, signal);
  }, signal);
  told({ id, stops });
  const change = ({ spec }: SwarmService) => active(spec, execution);
  return (within: AbortSignal) => post(swarm, { id, change }, within);
}

async function exitCode(
  { swarm, clock, progress }: SwarmJobFacts,
  id: string,
  signal: AbortSignal,
): Promise<number> {
  for (let before = "";;) {
    const service = await swarm.service(id, signal);
    if (service === undefined) {
      throw errors.not_found("its service is gone: nobody knows how it ended");
    }
    const state = runState(service, await swarm.tasksOf(id, signal));
    if (state.kind === "ended") {
      if (state.why === "") return state.code;
      throw errors.deploy_failed(`the job did not run: ${state.why}`);
    }
    if (state.why !== before) progress(state.why === "" ? "running" : state.why);
    before = state.why;
    await clock.sleep(INTERVAL_MS, signal);
  }
}

type Swarm = Pick<EngineClient["swarm"], "service" | "updateService" | "removeService">;

/** What runs of jobs in a swarm have made and stopped. */
export function swarmRuns(swarm: Swarm): RunsEngine<StoppedService> {
  return {
    async made(id, signal) {
      const service = await swarm.service(id, signal);
      return service && { stops: stopsOfService(service.labels), isStarted: !isIdle(service) };
    },
    stackOf: async ({ id }, signal) =>
      (await swarm.service(id, signal))?.labels[STACK_LABELS.namespace] ?? "",
    // One that somebody else scaled meanwhile is left alone.
    startAgain: ({ id, replicas }, signal) =>
      post(swarm, { id, change: (now) => scaled(now, replicas, 0) }, signal),
    remove: (id, signal) => swarm.removeService(id, signal),
  };
}

async function required(
  swarm: Pick<Swarm, "service">,
  id: string,
  signal: AbortSignal,
): Promise<SwarmService> {
  const service = await swarm.service(id, signal);
  if (service === undefined) throw errors.not_found("its service was removed");
  return service;
}

async function post(
  swarm: Pick<Swarm, "service" | "updateService">,
  { id, change }: {
    readonly id: string;
    /** Of the service as it is now; nothing is changed where it returns nothing. */
    readonly change: (now: SwarmService) => JsonRecord | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  await postAgain(async () => {
    const now = await required(swarm, id, signal);
    const body = change(now);
    // Without credentials the engine keeps the earlier ones.
    if (body) await swarm.updateService(now, { body, auth: "" }, signal);
  });
}

/** The service with another number of tasks; nothing when it does not have `from` tasks now. */
function scaled({ spec, mode }: SwarmService, replicas: number, from?: number) {
  if (mode.kind !== "replicated") return undefined;
  if (from !== undefined && mode.replicas !== from) return undefined;
  return { ...spec, Mode: { Replicated: { Replicas: replicas } } };
}
