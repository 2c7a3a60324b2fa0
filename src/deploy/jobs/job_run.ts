import { errors, messageOf, type Progress, StackwrightError, utf8 } from "../../model/mod.ts";
import { type Clock, type Log, withDeadline } from "../../system/mod.ts";
import type { FoundJob } from "./found_job.ts";

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
  readonly clock: Clock;
  readonly log: Log;
  readonly found: FoundJob;
  readonly spec: JobOrder;
  readonly leaves: () => boolean;
  readonly progress: Progress;
}

/** Port for what an engine runs one job in: its containers, or the services of its swarm. */
export interface JobEngine<Stopped> {
  /** What a job has of its own. */
  readonly noun: "container" | "service";
  /** What runs now and is to be stopped, as the order says. */
  toStop(signal: AbortSignal): Promise<readonly Stopped[]>;
  /** Stops one of these, and waits until nothing of it runs. */
  stop(stopped: Stopped, signal: AbortSignal): Promise<void>;
  /** Starts one again, unless somebody else saw to it meanwhile. */
  startAgain(stopped: Stopped, signal: AbortSignal): Promise<void>;
  /** Throws where the job's own container or service cannot be run again. */
  requireRestart(): void;
  /** Runs that once more; returns its id. */
  restart(signal: AbortSignal): Promise<string>;
  /**
   * Makes something for one run, which remembers what the run stops and does not run yet. Tells of it
   * as soon as it is there; returns what starts it.
   */
  make(
    told: (own: OwnOfRun<Stopped>) => void,
    signal: AbortSignal,
  ): Promise<(signal: AbortSignal) => Promise<void>>;
  /** What was made for a run by a process that has ended; nothing where it is gone. */
  made(
    id: string,
    signal: AbortSignal,
  ): Promise<Omit<OwnOfRun<Stopped>, "id"> & { readonly isStarted: boolean } | undefined>;
  remove(id: string, signal: AbortSignal): Promise<void>;
  /** Waits for the end; returns the exit code. */
  exitCode(id: string, signal: AbortSignal): Promise<number>;
  /** Ends a run that takes too long, and calls `keep` when all that it printed can be read. */
  cutShort(id: string, keep: () => Promise<void>, signal: AbortSignal): Promise<void>;
  /** The last lines that it printed. */
  printed(id: string, lines: number, signal: AbortSignal): Promise<readonly string[]>;
}

/** The id of one run, and what it stops. */
export interface OwnOfRun<Stopped> {
  readonly id: string;
  readonly stops: readonly Stopped[];
}

/** Bytes of what a failed run printed that its record keeps. */
const KEPT_OUTPUT = 16 * 1024;
/** Lines that an engine is asked for. */
const KEPT_LINES = 1000;
/** Milliseconds that putting things back may take after the run was cancelled. */
const CLEANUP_MS = 60_000;

/**
 * One run of a job: begun, then waited for and put away. A one-off run has a container or service of
 * its own, which is made with what it stops in a label before anything is stopped, so a process that
 * takes over can see all of it.
 */
export class JobRun<Stopped> {
  readonly #facts: JobRunFacts;
  readonly #engine: JobEngine<Stopped>;
  /** What runs it, whose end is waited for. */
  #awaited: string | undefined;
  /** Whether that is of this run alone. */
  #isOwn = false;
  #stopped: readonly Stopped[] = [];
  #output = "";

  constructor(facts: JobRunFacts, engine: JobEngine<Stopped>) {
    this.#facts = facts;
    this.#engine = engine;
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
    const made = await this.#engine.made(id, signal);
    [this.#awaited, this.#isOwn] = [id, true];
    this.#stopped = made?.stops ?? [];
    if (made?.isStarted) return;
    await this.#putBack(signal);
    const { noun } = this.#engine;
    throw errors.not_found(
      made === undefined
        ? `its ${noun} is gone: nobody knows how it ended`
        : `the process that made its ${noun} ended before it was started`,
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

  async #restart(signal: AbortSignal): Promise<void> {
    const { stopServices, maxSeconds } = this.#facts.spec;
    this.#engine.requireRestart();
    this.#stopped = await this.#engine.toStop(signal);
    await this.#stop(signal);
    const id = await this.#engine.restart(signal);
    if (stopServices.length > 0 || maxSeconds !== undefined) this.#awaited = id;
  }

  async #beginOneOff(signal: AbortSignal): Promise<void> {
    let stops: readonly Stopped[] = [];
    const start = await this.#engine.make((own) => {
      [this.#awaited, this.#isOwn] = [own.id, true];
      stops = own.stops;
    }, signal);
    this.#stopped = stops;
    await this.#stop(signal);
    await start(signal);
  }

  /** All are tried; one that cannot be stopped keeps the job from being run. */
  async #stop(signal: AbortSignal): Promise<void> {
    if (this.#stopped.length > 0) this.#facts.progress("stopping services");
    const results = await Promise.allSettled(
      this.#stopped.map((each) => this.#engine.stop(each, signal)),
    );
    const failures = results.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
    if (failures.length === 0) return;
    throw errors.deploy_failed(
      "the job was not run, as services could not be stopped: " +
        `${[...new Set(failures.map(messageOf))].join("; ")}`,
      { cause: failures[0] },
    );
  }

  async #exitCode(id: string, signal: AbortSignal): Promise<number> {
    const { clock, found: { service }, spec: { maxSeconds } } = this.#facts;
    const wait = (within: AbortSignal) => this.#engine.exitCode(id, within);
    if (maxSeconds === undefined) return await wait(signal);
    const late = () => errors.timeout(`job ${service} was ended after ${maxSeconds} seconds`);
    try {
      return await withDeadline({ clock, milliseconds: maxSeconds * 1000, late }, wait, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#engine.cutShort(id, () => this.#keepOutput(id, signal), signal);
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
   * Starts again what was stopped and removes what is of this run alone, also when the run is
   * cancelled. At the end of the process it stays, and the next process takes it over.
   */
  async #putBack(signal: AbortSignal): Promise<void> {
    const { clock, leaves, found: { key, service } } = this.#facts;
    if (signal.aborted && this.#isOwn && leaves()) return;
    const [stopped, own] = [this.#stopped, this.#isOwn ? this.#awaited : undefined];
    this.#stopped = [];
    const late = () => errors.timeout("the engine did not answer");
    const results = await withDeadline(
      { clock, milliseconds: CLEANUP_MS, late },
      async (patient) => {
        const starts = stopped.map((each) => this.#engine.startAgain(each, patient));
        const started = await Promise.allSettled(starts);
        if (own === undefined) return started;
        // It goes last: it alone tells the next process what was stopped.
        return [...started, ...await Promise.allSettled([this.#engine.remove(own, patient)])];
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

/** What a run printed last, as the end of a sentence; empty where it printed nothing. */
function lastOutput(lines: readonly string[]): string {
  const bytes = new TextEncoder().encode(lines.join("\n"));
  const end = utf8(bytes.slice(-KEPT_OUTPUT));
  // Half a word may be half a secret, which nobody knows as one.
  const text = (bytes.length > KEPT_OUTPUT ? end.replace(/^\S+/, "") : end).trim();
  return text === "" ? "" : `: ${text}`;
}
