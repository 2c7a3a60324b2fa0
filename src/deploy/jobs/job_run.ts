import type { EngineClient } from "../../docker/mod.ts";
import {
  COMPOSE_LABELS,
  messageOf,
  type ObservedContainer,
  type Progress,
  StackwrightError,
} from "../../model/mod.ts";
import { type Clock, type Log, withDeadline } from "../../system/mod.ts";
import type { InjectedFile } from "../engine/injected_files.ts";
import { tarOf } from "../engine/tar.ts";
import { makeExecution, stopsOf } from "./execution.ts";
import type { FoundJob } from "./find_jobs.ts";

/** The order to run a job: the part of its labels that a run needs. */
export interface JobOrder {
  readonly mode: "restart" | "one_off";
  readonly stopServices: readonly { readonly project: string; readonly service: string }[];
  /** Seconds these have to end; as they say themselves when absent. */
  readonly stopTimeoutSeconds?: number;
  /** Tasks of a one-off run in a swarm; one when absent. */
  readonly swarmReplicas?: number;
  /** Seconds after which a run is ended and has failed; none when absent. */
  readonly maxSeconds?: number;
}

/** Facts of one run of a job, and the ports it works with. */
export interface JobRunFacts {
  readonly engine: EngineClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly found: FoundJob;
  readonly spec: JobOrder;
  /** Sees to it that the image is there; returns the files that a new container is given. */
  readonly ready: (signal: AbortSignal) => Promise<readonly InjectedFile[]>;
  readonly nextId: () => string;
  readonly leaves: () => boolean;
  readonly progress: Progress;
}

/** Bytes of what a failed run printed that its record keeps. */
const KEPT_OUTPUT = 16 * 1024;
/** Lines that an engine is asked for. */
export const KEPT_LINES = 1000;
/** Milliseconds that putting things back may take after the run was cancelled. */
export const CLEANUP_MS = 60_000;

/** What a run printed last, as the end of a sentence; empty where it printed nothing. */
export function lastOutput(lines: readonly string[]): string {
  const bytes = new TextEncoder().encode(lines.join("\n"));
  // What is cut in the middle of a character begins with a sign that says so.
  const text = new TextDecoder().decode(bytes.slice(-KEPT_OUTPUT)).trim();
  return text === "" ? "" : `: ${text}`;
}

/** One run of a job: begun, then waited for and put away. */
export class JobRun {
  readonly #facts: JobRunFacts;
  /** The container that runs it, whose end is waited for. */
  #awaited: string | undefined;
  /** Whether that container is of this run alone. */
  #isOwn = false;
  #stopped: readonly string[] = [];
  #output = "";

  constructor(facts: JobRunFacts) {
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
    const details = await this.#engine.inspectContainer(id, signal);
    [this.#awaited, this.#isOwn] = [id, true];
    this.#stopped = stopsOf(details?.container.labels ?? {});
    if (details !== undefined && details.container.state !== "created") return;
    await this.#putBack(signal);
    throw new StackwrightError(
      "not_found",
      details === undefined
        ? "its container is gone: nobody knows how it ended"
        : "the process that made its container ended before it was started",
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

  get #engine() {
    return this.#facts.engine;
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { found: { container, scale }, spec: { stopServices, maxSeconds } } = this.#facts;
    if (scale !== 1) {
      throw new StackwrightError(
        "config_invalid",
        `a job that restarts its container has one, and this has ${scale}: use scale 1 or one_off`,
      );
    }
    this.#stopped = await this.#toStop(signal);
    await this.#stop(signal);
    // The same container again: its images are there, and its files were put into it.
    if (container.state === "running") {
      await this.#engine.restartContainer(container.id, {}, signal);
    } else await this.#engine.startContainer(container.id, signal);
    if (stopServices.length > 0 || maxSeconds !== undefined) this.#awaited = container.id;
  }

  async #beginOneOff(signal: AbortSignal): Promise<void> {
    const { found: { container }, clock, ready, nextId } = this.#facts;
    const files = await ready(signal);
    const stops = await this.#toStop(signal);
    const facts = { runId: nextId(), stops };
    const { id } = await makeExecution(this.#engine, container.id, facts, signal);
    [this.#awaited, this.#isOwn] = [id, true];
    if (files.length > 0) {
      const seconds = Math.floor(clock.now().getTime() / 1000);
      await this.#engine.unpackInto(id, tarOf(files, seconds), signal);
    }
    this.#stopped = stops;
    await this.#stop(signal);
    await this.#engine.startContainer(id, signal);
  }

  /** Containers that run now and are to be stopped. */
  async #toStop(signal: AbortSignal): Promise<string[]> {
    const { spec: { stopServices } } = this.#facts;
    const lists = await Promise.all(
      stopServices.map((each) => this.#containersOf(each, signal)),
    );
    const ids = lists.flat().filter(({ state }) => state === "running").map(({ id }) => id);
    return [...new Set(ids)];
  }

  async #containersOf(
    { project, service }: JobOrder["stopServices"][number],
    signal: AbortSignal,
  ): Promise<ObservedContainer[]> {
    const labels = { [COMPOSE_LABELS.project]: project, [COMPOSE_LABELS.service]: service };
    const found = await this.#engine.listContainers(labels, signal);
    return found.filter(({ labels }) => labels[COMPOSE_LABELS.oneOff]?.toLowerCase() !== "true");
  }

  /** All are tried; one that cannot be stopped keeps the job from being run. */
  async #stop(signal: AbortSignal): Promise<void> {
    const { progress, spec: { stopTimeoutSeconds } } = this.#facts;
    if (this.#stopped.length > 0) progress("stopping services");
    const results = await Promise.allSettled(
      this.#stopped.map((id) => this.#engine.stopContainer(id, stopTimeoutSeconds, signal)),
    );
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

  async #exitCode(id: string, signal: AbortSignal): Promise<number> {
    const { clock, found: { service }, spec: { maxSeconds } } = this.#facts;
    const wait = (within: AbortSignal) => this.#engine.waitContainer(id, within);
    if (maxSeconds === undefined) return await wait(signal);
    const late = () =>
      new StackwrightError("timeout", `job ${service} was ended after ${maxSeconds} seconds`);
    const deadline = { clock, milliseconds: maxSeconds * 1000, late };
    try {
      return await withDeadline(deadline, wait, signal);
    } catch (error) {
      if (!signal.aborted) {
        await this.#engine.stopContainer(id, undefined, signal);
        await this.#keepOutput(id, signal);
        const text = messageOf(error) + this.#output;
        throw error instanceof StackwrightError ? new StackwrightError(error.code, text) : error;
      }
      throw error;
    }
  }

  async #keepOutput(id: string, signal: AbortSignal): Promise<void> {
    try {
      this.#output = lastOutput(await this.#engine.containerLogs(id, KEPT_LINES, signal));
    } catch (error) {
      this.#facts.log.debug("what a job printed could not be read", { error });
    }
  }

  /**
   * Starts again what was stopped and removes the run's own container, also when the run is cancelled.
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
        const starts = stopped.map((id) => this.#engine.startContainer(id, patient));
        const started = await Promise.allSettled(starts);
        if (own === undefined) return started;
        // It goes last: it alone tells the next process what was stopped.
        const removal = this.#engine.removeContainer(own, { force: true, volumes: true }, patient);
        return [...started, ...await Promise.allSettled([removal])];
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
