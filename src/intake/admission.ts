import type { Run, RunFacts, Trigger, Work } from "../model/mod.ts";
import type { Calm } from "./pace.ts";

/** Accepted work. */
export interface Admission {
  /** The run as it was opened. */
  readonly run: Run;
  /** The finished run; never rejects. */
  readonly finished: Promise<Run>;
  /** Resolves when the next run of its kind need not wait for this one any more, at its end at the latest. */
  readonly gaveWay: Promise<void>;
}

/** Runs for webhooks of one repository at which further ones are refused: each push may name new branches. */
export const MOST_OF_REPOSITORY = 1000;

/** Options for submitting work. */
export interface SubmitOptions {
  /** Its abort cancels the work: the client is gone. Ignored once another client joined the run. */
  readonly signal?: AbortSignal;
  /** Name of the repository, if known before the source is read. */
  readonly repository?: string;
  /**
   * Key of equal work. In a lane one piece of work runs and at most one waits, which will look at
   * the source later than all requests that joined it; requests join the waiting one's run.
   */
  readonly lane?: string;
  /** What to wait for before beginning; equal requests join until then. */
  readonly waits?: Calm;
}

/** A trigger that asks for nothing that can be done. */
export interface NothingToDo extends RunFacts {
  readonly trigger: Trigger;
  readonly message: string;
}

/** The gate through which all work enters. */
export interface Intake {
  /**
   * Notes a request about a repository that may come in a burst; returns what its work has to wait for.
   * Throws `overloaded` while {@link MOST_OF_REPOSITORY} runs of such requests wait or go on.
   */
  arrive(repository: string): Calm;
  /**
   * Opens a run and starts its work, or joins the run that waits in the work's lane, whose work is
   * then replaced by this newer work. Without `signal` only a shutdown cancels it; the `signal` of
   * a caller who joins is ignored.
   *
   * Throws `shutting_down`, without opening a run, once closing has begun.
   */
  submit(work: Work, options?: SubmitOptions): Admission;
  /**
   * Does a change that is no run, as a person's stop of a project: a shutdown waits for it as for runs, and
   * aborts its signal with them. Throws `shutting_down`, without beginning it, once closing has begun.
   */
  change<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Opens a run that is skipped at once. Throws `shutting_down`. */
  skip(nothing: NothingToDo): Run;
  /** Whether work is still accepted. */
  readonly open: boolean;
  /** Shuts down: refuses new work, waits for active runs, then fails them. May be called twice. */
  close(): Promise<void>;
}
