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
export class SwarmJobs implements JobEngine<StoppedService> {
  readonly noun = "service";
  readonly #facts: SwarmJobFacts;
  readonly #runs: RunsEngine<StoppedService>;

  constructor(facts: SwarmJobFacts) {
    this.#facts = facts;
    this.#runs = swarmRuns(facts.swarm);
  }

  async toStop(signal: AbortSignal): Promise<StoppedService[]> {
    const { swarm, log, found: { key: { context } }, spec: { stopServices } } = this.#facts;
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
  async stop({ id }: StoppedService, signal: AbortSignal): Promise<void> {
    const { swarm, clock, spec: { stopTimeoutSeconds: seconds = STOP_SECONDS } } = this.#facts;
    const late = () => errors.timeout(`tasks did not end within ${seconds} s`);
    await withDeadline({ clock, milliseconds: seconds * 1000, late }, async (within) => {
      await this.#post(id, (now) => scaled(now, 0), within);
      for (;;) {
        const tasks = await swarm.tasksOf(id, within);
        if (!tasks.some(holdsSomething)) return;
        await clock.sleep(INTERVAL_MS, within);
      }
    }, signal);
  }

  stackOf(stopped: StoppedService, signal: AbortSignal): Promise<string> {
    return this.#runs.stackOf(stopped, signal);
  }

  startAgain(stopped: StoppedService, signal: AbortSignal): Promise<void> {
    return this.#runs.startAgain(stopped, signal);
  }

  async requireRestart(signal: AbortSignal): Promise<void> {
    rerunBody(await this.#required(this.#facts.service, signal), this.#facts.clock.now());
  }

  async restart(signal: AbortSignal): Promise<string> {
    const { service, clock } = this.#facts;
    await this.#post(service, (now) => rerunBody(now, clock.now()), signal);
    return service;
  }

  /** Makes a service without files of its own: configs and secrets are the swarm's. */
  async make(
    told: (own: OwnOfRun<StoppedService>) => void,
    _files: readonly unknown[],
    signal: AbortSignal,
  ) {
    const { swarm, service, auth, making, nextId, owner, spec } = this.#facts;
    const stops = await this.toStop(signal);
    const execution = { runId: nextId(), stops, owner, completions: spec.swarmReplicas ?? 1 };
    const id = await making(async () => {
      const like = await this.#required(service, signal);
      const body = idle(executionBody(like, execution));
      return await swarm.createService({ body, auth: await auth(imageOf(like)) }, signal);
    }, signal);
    told({ id, stops });
    const start = ({ spec }: SwarmService) => active(spec, execution);
    return (within: AbortSignal) => this.#post(id, start, within);
  }

  made(id: string, signal: AbortSignal) {
    return this.#runs.made(id, signal);
  }

  remove(id: string, signal: AbortSignal): Promise<void> {
    return this.#runs.remove(id, signal);
  }

  async exitCode(id: string, signal: AbortSignal): Promise<number> {
    const { swarm, clock, progress } = this.#facts;
    for (let before = "";;) {
      const service = await this.#read(id, signal);
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

  /** Keeps the output first: it vanishes with the tasks. {@link remove} removes a run's service. */
  async cutShort(id: string, keep: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await keep();
    if (id === this.#facts.service) await this.#post(id, ({ spec }) => idle(spec), signal);
  }

  printed(id: string, lines: number, signal: AbortSignal): Promise<readonly string[]> {
    return this.#facts.swarm.serviceLogs(id, lines, signal);
  }

  #read(id: string, signal: AbortSignal): Promise<SwarmService | undefined> {
    return this.#facts.swarm.service(id, signal);
  }

  async #required(id: string, signal: AbortSignal): Promise<SwarmService> {
    return await required(this.#facts.swarm, id, signal);
  }

  /** Changes a service as it is now; does nothing if `change` returns nothing. */
  #post(id: string, change: Change, signal: AbortSignal): Promise<void> {
    return post(this.#facts.swarm, { id, change }, signal);
  }
}

type Swarm = Pick<EngineClient["swarm"], "service" | "updateService" | "removeService">;
type Change = (now: SwarmService) => JsonRecord | undefined;

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

async function required(swarm: Swarm, id: string, signal: AbortSignal): Promise<SwarmService> {
  const service = await swarm.service(id, signal);
  if (service === undefined) throw errors.not_found("its service was removed");
  return service;
}

async function post(
  swarm: Swarm,
  { id, change }: { readonly id: string; readonly change: Change },
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
