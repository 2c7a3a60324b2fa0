import type { EngineClient, SwarmService } from "../../docker/mod.ts";
import type { JsonRecord } from "../../docker/json.ts";
import { messageOf, StackwrightError } from "../../model/mod.ts";
import { withDeadline } from "../../system/mod.ts";
import { imageOf } from "../swarm/observed_services.ts";
import { CLEANUP_MS, type JobRunFacts, KEPT_LINES, lastOutput } from "./job_run.ts";
import {
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
/** Seconds that the tasks of a stopped service may take to end, where nobody says how many. */
const STOP_SECONDS = 60;
/** How often a service is posted again because somebody else changed it in between. */
const MOST_POSTS = 3;

/** Facts of one run of a job in a swarm, and the ports it works with. */
export interface SwarmJobRunFacts extends Omit<JobRunFacts, "ready"> {
  /** The service of the job. */
  readonly service: SwarmService;
  /** Credentials for the registry of an image, as the engine takes them. */
  readonly auth: (image: string) => Promise<string>;
}

/**
 * One run of a job in a swarm: begun, then waited for and put away. A one-off run is a service of its
 * own, which is made without a task and with what it stops in a label before anything is stopped, so a
 * process that takes over can see all of it.
 */
export class SwarmJobRun {
  readonly #facts: SwarmJobRunFacts;
  /** The service whose tasks' end is waited for. */
  #awaited: string | undefined;
  /** Whether that service is of this run alone. */
  #isOwn = false;
  #stopped: readonly StoppedService[] = [];
  #output = "";

  constructor(facts: SwarmJobRunFacts) {
    this.#facts = facts;
  }

  /** What a run that failed printed last, as the end of a sentence; empty where it printed nothing. */
  get output(): string {
    return this.#output;
  }

  /** Stops what has to be stopped, and starts the job. What it throws leaves nothing behind. */
  async begin(signal: AbortSignal): Promise<void> {
    try {
      await (this.#facts.spec.mode === "one_off"
        ? this.#beginOneOff(signal)
        : this.#restart(signal));
    } catch (error) {
      await this.#putBack(signal);
      throw error;
    }
  }

  /** Takes over what a process that has ended began. Throws `not_found` for what never ran. */
  async adopt(id: string, signal: AbortSignal): Promise<void> {
    const service = await this.#read(id, signal);
    [this.#awaited, this.#isOwn] = [id, true];
    this.#stopped = stopsOfService(service?.labels ?? {});
    if (service !== undefined && !isIdle(service)) return;
    await this.#putBack(signal);
    throw new StackwrightError(
      "not_found",
      service === undefined
        ? "its service is gone: nobody knows how it ended"
        : "the process that made its service ended before it was started",
    );
  }

  /** Waits for the end and puts everything back; returns the exit code where it waited for one. */
  async end(signal: AbortSignal): Promise<number | undefined> {
    const id = this.#awaited;
    if (id === undefined) return undefined;
    try {
      this.#facts.progress("running");
      const code = await this.#exitCode(id, signal);
      if (code !== 0) await this.#keepOutput(id, signal);
      return code;
    } finally {
      await this.#putBack(signal);
    }
  }

  get #swarm(): EngineClient["swarm"] {
    return this.#facts.engine.swarm;
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { service, clock, spec: { stopServices, maxSeconds } } = this.#facts;
    rerunBody(service, clock.now());
    this.#stopped = await this.#toStop(signal);
    await this.#stop(signal);
    await this.#post(service.id, (now) => rerunBody(now, clock.now()), signal);
    if (stopServices.length > 0 || maxSeconds !== undefined) this.#awaited = service.id;
  }

  async #beginOneOff(signal: AbortSignal): Promise<void> {
    const { service, auth, nextId, spec: { swarmReplicas = 1 } } = this.#facts;
    const stops = await this.#toStop(signal);
    const body = executionBody(service, { runId: nextId(), stops, completions: swarmReplicas });
    const change = { body: idle(body), auth: await auth(imageOf(service)) };
    const id = await this.#swarm.createService(change, signal);
    [this.#awaited, this.#isOwn] = [id, true];
    this.#stopped = stops;
    await this.#stop(signal);
    await this.#post(id, () => body, signal);
  }

  async #read(id: string, signal: AbortSignal): Promise<SwarmService | undefined> {
    return (await this.#swarm.services({}, signal)).find((each) => each.id === id);
  }

  /** Changes a service as it is now; nothing where there is nothing to change. */
  async #post(
    id: string,
    change: (now: SwarmService) => JsonRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    for (let attempt = 1;; attempt++) {
      const now = await this.#read(id, signal);
      if (now === undefined) throw new StackwrightError("not_found", "its service was removed");
      const body = change(now);
      if (body === undefined) return;
      try {
        // Without credentials the engine keeps those that it was given.
        return await this.#swarm.updateService(now, { body, auth: "" }, signal);
      } catch (error) {
        if (attempt === MOST_POSTS || !/update out of sequence/.test(messageOf(error))) throw error;
      }
    }
  }

  /** Services that run now and are to be stopped. */
  async #toStop(signal: AbortSignal): Promise<StoppedService[]> {
    const { log, spec: { stopServices } } = this.#facts;
    if (stopServices.length === 0) return [];
    const all = await this.#swarm.services({}, signal);
    const names = new Set(stopServices.map(({ project, service }) => `${project}_${service}`));
    return all.filter(({ name }) => names.has(name)).flatMap(({ id, name, mode }) => {
      if (mode.kind === "replicated") return mode.replicas === 0 ? [] : [{ id, ...mode }];
      log.warning(`${name} runs on every node, or is a job: it is not stopped for a job`);
      return [];
    }).map(({ id, replicas }) => ({ id, replicas }));
  }

  /** All are tried; one that cannot be stopped keeps the job from being run. */
  async #stop(signal: AbortSignal): Promise<void> {
    const { clock, progress, spec: { stopTimeoutSeconds: seconds = STOP_SECONDS } } = this.#facts;
    if (this.#stopped.length === 0) return;
    progress("stopping services");
    const late = () => new StackwrightError("timeout", `tasks did not end within ${seconds} s`);
    const results = await withDeadline(
      { clock, milliseconds: seconds * 1000, late },
      (within) =>
        Promise.allSettled(this.#stopped.map(async ({ id }) => {
          await this.#post(id, (now) => scaled(now, 0), within);
          await this.#tasksEnded(id, within);
        })),
      signal,
    ).catch((error) => [{ status: "rejected" as const, reason: error }]);
    const failures = results.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
    if (failures.length === 0) return;
    throw new StackwrightError(
      "deploy_failed",
      `the job was not run, as services could not be stopped: ${
        failures.map(messageOf).join("; ")
      }`,
      { cause: failures[0] },
    );
  }

  async #tasksEnded(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const tasks = (await this.#swarm.tasks({}, signal)).filter((each) => each.serviceId === id);
      if (tasks.every(({ state }) => !ALIVE.includes(state))) return;
      await this.#facts.clock.sleep(INTERVAL_MS, signal);
    }
  }

  async #exitCode(id: string, signal: AbortSignal): Promise<number> {
    const { clock, found: { service }, spec: { maxSeconds } } = this.#facts;
    const wait = (within: AbortSignal) => this.#ended(id, within);
    if (maxSeconds === undefined) return await wait(signal);
    const late = () =>
      new StackwrightError("timeout", `job ${service} was ended after ${maxSeconds} seconds`);
    try {
      return await withDeadline({ clock, milliseconds: maxSeconds * 1000, late }, wait, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#keepOutput(id, signal);
      if (!this.#isOwn) await this.#post(id, ({ spec }) => idle(spec), signal);
      const text = messageOf(error) + this.#output;
      throw error instanceof StackwrightError ? new StackwrightError(error.code, text) : error;
    }
  }

  async #ended(id: string, signal: AbortSignal): Promise<number> {
    for (let before = "";;) {
      const service = await this.#read(id, signal);
      if (service === undefined) {
        throw new StackwrightError("not_found", "its service is gone: nobody knows how it ended");
      }
      const state = runState(service, await this.#swarm.tasks({}, signal));
      if (state.kind === "ended") {
        if (state.why === "") return state.code;
        throw new StackwrightError("deploy_failed", `the job did not run: ${state.why}`);
      }
      if (state.why !== before) this.#facts.progress(state.why === "" ? "running" : state.why);
      before = state.why;
      await this.#facts.clock.sleep(INTERVAL_MS, signal);
    }
  }

  async #keepOutput(id: string, signal: AbortSignal): Promise<void> {
    try {
      this.#output = lastOutput(await this.#swarm.serviceLogs(id, KEPT_LINES, signal));
    } catch (error) {
      this.#facts.log.debug("what a job printed could not be read", { error });
    }
  }

  /**
   * Starts again what was stopped and removes the run's own service, also when the run is cancelled.
   * At the end of the process it stays, and the next process takes it over.
   */
  async #putBack(signal: AbortSignal): Promise<void> {
    const { clock, leaves, found: { key, service } } = this.#facts;
    if (signal.aborted && this.#isOwn && leaves()) return;
    const [stopped, own] = [this.#stopped, this.#isOwn ? this.#awaited : undefined];
    this.#stopped = [];
    const late = () => new StackwrightError("timeout", "the engine did not answer");
    const results = await withDeadline(
      { clock, milliseconds: CLEANUP_MS, late },
      async (patient) => {
        const started = await Promise.allSettled(stopped.map(({ id, replicas }) =>
          // What somebody else scaled meanwhile is theirs.
          this.#post(id, (now) => scaled(now, replicas, 0), patient)
        ));
        if (own === undefined) return started;
        // It goes last: it alone tells the next process what was stopped.
        const removed = await Promise.allSettled([this.#swarm.removeService(own, patient)]);
        return [...started, ...removed];
      },
      new AbortController().signal,
    );
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      const log = this.#facts.log.with({ stack: key.name, context: key.context, job: service });
      log.error(`after the run of a job: ${messageOf(result.reason)}`);
    }
  }
}

/** A service with another number of tasks; nothing where it has not the one that it should have now. */
function scaled(
  { spec, mode }: SwarmService,
  replicas: number,
  from?: number,
): JsonRecord | undefined {
  if (mode.kind !== "replicated") return undefined;
  if (from !== undefined && mode.replicas !== from) return undefined;
  return { ...spec, Mode: { Replicated: { Replicas: replicas } } };
}

/** States of tasks that hold something. */
const ALIVE = ["assigned", "accepted", "preparing", "ready", "starting", "running"];
