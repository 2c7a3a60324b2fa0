import type { Run, RunEnd, RunFacts, RunStatus, RunTarget, Trigger } from "../model/mod.ts";

/** Which runs to list. */
export interface RunFilter {
  /** Most runs to return, at least 1. */
  readonly limit: number;
  readonly status?: RunStatus;
  readonly trigger?: Trigger;
}

/** Receives every change of every run of this process, as the new value. It must not throw. */
export type RunListener = (run: Run) => void;

/**
 * The runs of this process and the kept ones of earlier processes, in memory. Runs are values: a
 * change stores a new one, so what a caller holds never changes. A terminal run is final: later
 * changes are ignored and the stored run is returned.
 *
 * Changing calls throw `internal` for an id that was never accepted or was forgotten.
 */
export interface RunStore {
  /** Opens a run as `accepted` under a new id. */
  accept(opening: { readonly id: string; readonly trigger: Trigger } & RunFacts): Run;
  /** Makes an accepted run `running`. May be called twice. */
  start(id: string): Run;
  describe(id: string, facts: RunFacts): Run;
  /** Adds a target, or replaces the entry of the same context and stack. */
  target(id: string, entry: RunTarget): Run;
  /** Keeps a run, also a finished one, until the returned function is called: its work goes on. */
  hold(id: string): () => void;
  /** Ends a run; the first end wins. A run that never started gets its start time now. */
  finish(id: string, end: RunEnd): Run;
  /** Does `work`, and keeps all runs that it ends in one transaction. */
  together(work: () => void): void;
  /** The run, or `undefined` when there is none or it has expired. */
  get(id: string): Run | undefined;
  /** Matching runs, newest first. */
  list(filter: RunFilter): Run[];
  /** Adds a listener; the returned function removes it and may be called twice. */
  subscribe(listener: RunListener): () => void;
}

/** Port to runs that outlive the process. */
export interface KeptRuns {
  keep(runs: readonly Run[]): void;
  /** Oldest first. */
  all(): readonly Run[];
  /** Runs of other processes that are not known yet; cheap while no other process writes. */
  news(isKnown: (id: string) => boolean): readonly Run[];
}
