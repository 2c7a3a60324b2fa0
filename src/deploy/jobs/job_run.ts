import { errors, fewOf, messageOf, type Progress, StackwrightError } from "../../model/mod.ts";
import { type Clock, type Log, withDeadline } from "../../system/mod.ts";
import type { Engine } from "../../docker/engine.ts";
import { outlasting, saysAway } from "../engine_away.ts";
import type { InjectedFile } from "../engine/injected_files.ts";
import { endRun, MOST_STOPS, reasonsOf, type RunsEngine, someAtOnce } from "./end_run.ts";
import type { FoundJob } from "./found_job.ts";
import { different, lastOutput, type RunNotes, whyNotAwaited } from "./left_run.ts";

/** The order to run a job: the part of its labels that a run needs. */
export interface JobOrder {
  readonly mode: "restart" | "one_off";
  readonly stopServices: readonly { readonly project: string; readonly service: string }[];
  /** Seconds that these services have to stop; their own grace period when absent. */
  readonly stopTimeoutSeconds?: number;
  /** Number of tasks of a one-off run in a swarm; one when absent. */
  readonly swarmReplicas?: number;
  /** Seconds after which a run is ended as failed; no limit when absent. */
  readonly maxSeconds?: number;
}

/** Inputs of one run of a job, and its ports. */
export interface JobRunFacts {
  readonly clock: Clock;
  readonly log: Log;
  readonly engine: Pick<Engine, "info">;
  readonly found: FoundJob;
  readonly spec: JobOrder;
  readonly leaves: () => boolean;
  /** Whether the job's own container or service is another owner's by now, and what ran of it has ended. */
  readonly isTaken: () => boolean;
  readonly progress: Progress;
  readonly notes: RunNotes;
  /** Throws, before anything is stopped, when the job must not run. Returns files for its container. */
  readonly ready: (signal: AbortSignal) => Promise<readonly InjectedFile[]>;
  /** Throws when nothing of a stack may be started now, by what its containers did to its files. */
  readonly requireStartable: (stack: string, signal: AbortSignal) => Promise<void>;
}

/** A wait for a turn: runs `work` when it is its turn. Rejects with the signal's reason until then. */
export type InTurn = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Port for running one job: as containers, or as services of a swarm. */
export interface JobEngine<Stopped> extends RunsEngine<Stopped> {
  /** What the job runs as. */
  readonly noun: "container" | "service";
  /** The running services or containers that have to be stopped for the run. */
  toStop(signal: AbortSignal): Promise<readonly Stopped[]>;
  /** Stops one of these, and waits until it has ended. */
  stop(stopped: Stopped, signal: AbortSignal): Promise<void>;
  /** Throws when the job's own container or service cannot be run again. */
  requireRestart(signal: AbortSignal): Promise<void> | void;
  /** Runs the job's own container or service again; returns its id. */
  restart(signal: AbortSignal): Promise<string>;
  /**
   * Makes a container or service for one run, labelled with what the run stops, without starting
   * it; `files` are for a container. Reports it to `told` as soon as it exists, or may; returns a
   * function that starts it.
   */
  make(
    told: (own: OwnOfRun<Stopped>) => void,
    files: readonly InjectedFile[],
    signal: AbortSignal,
  ): Promise<(signal: AbortSignal) => Promise<void>>;
  /** Waits for the end of the run; returns the exit code. */
  exitCode(id: string, signal: AbortSignal): Promise<number>;
  /** Ends a run that takes too long; calls `keep` when its complete output can be read. */
  cutShort(id: string, keep: () => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Stops the job's own container or service at once: its author decides how long it takes. */
  halt(signal: AbortSignal): Promise<void>;
  /** The last lines of its output. */
  printed(id: string, lines: number, signal: AbortSignal): Promise<readonly string[]>;
}

/** The id of a run's own container or service, and what the run stops. */
export interface OwnOfRun<Stopped> {
  readonly id: string;
  readonly stops: readonly Stopped[];
}

/** Lines of output that are requested from an engine. */
const KEPT_LINES = 1000;

/**
 * One run of a job, with a beginning, a wait and a cleanup. What it stops is written down before anything is
 * stopped, so that the next process can take the run over: a one-off run has a container or service of
 * its own, which is labelled with it, and any other has a record ({@link RunNotes}).
 */
export class JobRun<Stopped> {
  readonly #facts: JobRunFacts;
  readonly #engine: JobEngine<Stopped>;
  /** Id of the container or service whose end is awaited. */
  #awaited: string | undefined;
  /** Whether that was made for this run alone. */
  #isOwn = false;
  #stopped: readonly Stopped[] = [];
  /** Whether all that is noted is among these. */
  #isNoted = false;
  #output = "";
  /** Whether it may have been started. */
  #mayRun = false;
  #isLeft = false;

  constructor(facts: JobRunFacts, engine: JobEngine<Stopped>) {
    this.#facts = facts;
    this.#engine = engine;
  }

  /** Last output of a failed run, to end a sentence with; empty without output. */
  get output(): string {
    return this.#output;
  }

  /** Whether it goes on without this process, for the next one to take over. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** Stops services as ordered, and starts the job. Cleans up before it throws. */
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

  /** Takes over another process's run. Throws `not_found` if it never started, or is gone. */
  async adopt(id: string, signal: AbortSignal): Promise<void> {
    const noted = this.#facts.notes.get();
    const left = noted?.id === id ? noted : undefined;
    const made = await this.#engine.made(id, signal);
    // Where the job's own container is gone, that of a run stands for the service.
    const isJobs = this.#facts.found.scale > 0 && id === this.#jobId;
    [this.#awaited, this.#isOwn] = [id, left === undefined ? !isJobs : left.isOwn === true];
    const stops = left === undefined ? made?.stops ?? [] : left.stops as readonly Stopped[];
    [this.#stopped, this.#isNoted] = [stops.slice(0, MOST_STOPS), left !== undefined];
    this.#mayRun = made?.isStarted === true && left?.mayRun !== false;
    if (this.#mayRun && left?.isOver !== true) return;
    await this.#putBack(signal);
    throw errors.not_found(whyNotAwaited(this.#engine.noun, left, made));
  }

  /** Waits for the end and cleans up; returns the exit code if there was one to wait for. */
  async end(signal: AbortSignal): Promise<number | undefined> {
    const id = this.#awaited;
    if (id === undefined) return undefined;
    let reading = Promise.resolve();
    try {
      const code = await this.#exitCode(id, signal);
      if (code !== 0) reading = this.#keepOutput(id, signal);
      return code;
    } finally {
      await this.#putBack(signal, reading);
    }
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { stopServices, maxSeconds } = this.#facts.spec;
    await this.#engine.requireRestart(signal);
    await this.#facts.ready(signal);
    const stops = await this.#engine.toStop(signal);
    this.#takeOn(stops);
    this.#note(false);
    await this.#stop(stops, signal);
    // Where nothing was to be stopped, nothing was waited for since it was ready.
    if (stopServices.length > 0) await this.#requireStartable(signal);
    this.#note(true);
    this.#mayRun = true;
    const id = await this.#engine.restart(signal);
    if (stopServices.length > 0 || maxSeconds !== undefined) this.#awaited = id;
  }

  async #beginOneOff(signal: AbortSignal): Promise<void> {
    let stops: readonly Stopped[] = [];
    const files = await this.#facts.ready(signal);
    const start = await this.#engine.make(
      (own) => {
        [this.#awaited, this.#isOwn] = [own.id, true];
        stops = own.stops;
      },
      files,
      signal,
    );
    this.#takeOn(stops);
    await this.#stop(stops, signal);
    await this.#requireStartable(signal);
    signal.throwIfAborted();
    this.#mayRun = true;
    await start(signal);
  }

  /** Id of the job's own container or service. */
  get #jobId(): string {
    const { swarm, container } = this.#facts.found;
    return swarm ?? container.id;
  }

  #note(mayRun: boolean): void {
    if (this.#stopped.length === 0) return;
    this.#isNoted = true;
    const { notes, spec: { stopServices } } = this.#facts;
    notes.set({ id: this.#jobId, stops: this.#stopped, mayRun, stopServices });
  }

  /** What it stops, and what its last run had stopped that is still down. */
  #takeOn(stops: readonly Stopped[]): void {
    const noted = this.#facts.notes.get()?.stops as readonly Stopped[] | undefined;
    this.#stopped = this.#few(different([...stops, ...noted ?? []]));
    this.#isNoted = noted !== undefined;
  }

  /** Notes what could not be started again for whoever takes it up, and only that. */
  #keep(left: readonly Stopped[], isCut: boolean): void {
    const { notes, spec: { stopServices } } = this.#facts;
    if (left.length > 0) {
      const others = this.#isNoted ? [] : notes.get()?.stops ?? [];
      const [mayRun, isOwn, isOver] = [this.#mayRun, this.#isOwn, this.#mayRun && !isCut];
      const stops = different([...left, ...others]);
      notes.set({ id: this.#awaited ?? this.#jobId, stops, mayRun, isOver, isOwn, stopServices });
    } else if (this.#isNoted) notes.remove();
    this.#isNoted = left.length > 0;
  }

  /** Looks again at the last moment: what is stopped may do its worst while it ends. */
  #requireStartable(signal: AbortSignal): Promise<void> {
    return this.#facts.requireStartable(this.#facts.found.key.name, signal);
  }

  #few(stops: readonly Stopped[]): readonly Stopped[] {
    if (stops.length <= MOST_STOPS) return stops;
    throw errors.deploy_failed(
      `the job was not run: it would stop ${stops.length} ${this.#engine.noun}s, and the most is ${MOST_STOPS}`,
    );
  }

  /** Tries to stop all; the job does not run when one of them cannot be stopped. */
  async #stop(stops: readonly Stopped[], signal: AbortSignal): Promise<void> {
    if (stops.length > 0) this.#facts.progress("stopping services");
    const stop = (each: Stopped) => this.#engine.stop(each, signal);
    const failures = reasonsOf(await someAtOnce(stops, stop, signal));
    if (failures.length === 0) return;
    throw errors.deploy_failed(
      "the job was not run, as services could not be stopped: " +
        fewOf([...new Set(failures.map(messageOf))], 20, "; "),
      { cause: failures[0] },
    );
  }

  /** Stops what an engine that starts has started by itself (restart: always), while the run goes on. */
  async #stopAgain(id: string, signal: AbortSignal): Promise<void> {
    if (this.#stopped.length === 0) return;
    if ((await this.#engine.made(id, signal))?.goesOn !== true) return;
    const stop = (each: Stopped) => this.#engine.stop(each, signal);
    const failed = reasonsOf(await someAtOnce(this.#stopped, stop, signal));
    const away = failed.find(saysAway);
    if (away !== undefined) throw away;
    const text = "what a job stops could not be stopped again while it runs";
    failed.forEach((error) => this.#facts.log.warning(text, { error }));
  }

  async #exitCode(id: string, signal: AbortSignal): Promise<number> {
    const { clock, found: { service }, spec: { maxSeconds } } = this.#facts;
    // A connection that is cut, or an engine that restarts, ends no run; one that has ended meanwhile says so.
    let wasAway = false;
    const wait = (within: AbortSignal) =>
      outlasting(this.#facts, async (still) => {
        if (wasAway) await this.#stopAgain(id, still);
        wasAway = true;
        this.#facts.progress("running");
        return await this.#engine.exitCode(id, still);
      }, within);
    if (maxSeconds === undefined) return await wait(signal);
    const late = () => errors.timeout(`job ${service} was ended after ${maxSeconds} seconds`);
    try {
      return await withDeadline({ clock, milliseconds: maxSeconds * 1000, late }, wait, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const keep = () => this.#keepOutput(id, signal);
      await outlasting(this.#facts, (still) => this.#engine.cutShort(id, keep, still), signal);
      const text = messageOf(error) + this.#output;
      throw error instanceof StackwrightError ? new StackwrightError(error.code, text) : error;
    }
  }

  async #keepOutput(id: string, signal: AbortSignal): Promise<void> {
    try {
      this.#output = lastOutput(await this.#engine.printed(id, KEPT_LINES, signal));
    } catch (error) {
      this.#facts.log.debug("what a job printed could not be read", { error });
    }
  }

  /**
   * Starts stopped services again and removes the run's own container or service, also after a
   * cancellation, which stops the job's. When the process ends, a run that may have been started is left
   * as it is; the next process takes over one with a container or service of its own. What is removed is
   * read before, and what was stopped does not wait for that.
   */
  async #putBack(signal: AbortSignal, reading = Promise.resolve()): Promise<void> {
    const isCut = signal.aborted && this.#mayRun;
    this.#isLeft = isCut && this.#isOwn && this.#facts.leaves();
    if (this.#isLeft) return;
    const [stopped, own] = [this.#stopped, this.#isOwn ? this.#awaited : undefined];
    this.#stopped = [];
    const { found: { key, service }, leaves, isTaken } = this.#facts;
    const keep = (left: readonly Stopped[]) => this.#keep(left, isCut);
    const putAway = async (within: AbortSignal) => {
      if (own !== undefined) await this.#engine.remove(own, within);
      else if (isCut && !leaves() && !isTaken()) await this.#engine.halt(within);
    };
    const parts = { ...this.#facts, key, service };
    await endRun(parts, this.#engine, { stopped, keep, putAway, reading }, signal);
  }
}
