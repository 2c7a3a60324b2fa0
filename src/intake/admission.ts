import type { Run, Trigger, Work } from "../model/mod.ts";
import type { RunFacts } from "../record/mod.ts";
import type { Calm } from "./pace.ts";

/** Work that was let in. */
export interface Admission {
  /** The run as it was opened. */
  readonly run: Run;
  /** The finished run; never rejects. */
  readonly finished: Promise<Run>;
}

/** Options of letting work in. */
export interface SubmitOptions {
  /**
   * Its abort cancels the work: the client that waits for it is gone. Not once another one got its run.
   */
  readonly signal?: AbortSignal;
  /** Name of the repository, where it is known before the source was looked at. */
  readonly repository?: string;
  /**
   * Work under the same key does the same. One piece of it runs and at most one waits, which looks at
   * the source after all that was asked for before; whoever comes while one waits gets its run.
   */
  readonly lane?: string;
  /** Begins when it is so calm; whoever asks for the same until then joins it. */
  readonly waits?: Calm;
}

/** A trigger that asked for nothing that could be done. */
export interface NothingToDo extends RunFacts {
  readonly trigger: Trigger;
  /** Why, for people. */
  readonly message: string;
}

/** The one gate through which work enters. */
export interface Intake {
  /**
   * Notes a request of a kind that may come in bursts; says what its work `waits` for: that of one that
   * comes alone for a moment.
   */
  arrive(): Calm;
  /**
   * Opens a run and starts the work behind it, or joins the run that waits in the work's lane; of
   * the work in a lane the newest counts. Without a `signal` only shutdown cancels it; that of a
   * caller who joins is not listened to.
   *
   * Throws `shutting_down` once closing has begun; no run is opened then.
   */
  submit(work: Work, options?: SubmitOptions): Admission;
  /** Opens a run that is over at once, skipped. Throws `shutting_down`. */
  skip(nothing: NothingToDo): Run;
  /** Whether work is still let in. */
  readonly open: boolean;
  /**
   * Shuts down gracefully: lets nothing more in, waits for active runs for the grace period, then
   * aborts them and marks them failed. May be called twice; both calls end together.
   */
  close(): Promise<void>;
}
