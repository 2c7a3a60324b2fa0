import {
  byText,
  errors,
  isTerminal,
  placeAmong,
  type Run,
  type RunEnd,
  type RunFacts,
  type RunTarget,
  type Trigger,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { fittingTarget, fittingTargets, fittingText } from "./fitting.ts";
import { firstToGo } from "./first_to_go.ts";
import type { KeptRuns, RunFilter, RunListener, RunStore } from "./run_store.ts";

/** Finished runs kept of each trigger. */
export const RUNS_PER_TRIGGER = 50;

/** Milliseconds from its creation for which a finished run is kept: seven days. */
export const RUN_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** A store with the runs `kept` by earlier processes. `clock` dates events and tells what has expired. */
export function createRuns(
  { clock, kept }: { readonly clock: Clock; readonly kept?: KeptRuns },
): RunStore {
  return new MemoryRuns(clock, kept);
}

class MemoryRuns implements RunStore {
  readonly #clock: Clock;
  /** Runs by id, in the order of acceptance; those of other processes as they were heard of. Clocks are set back. */
  readonly #runs = new Map<string, Run>();
  readonly #counts = new Map<Trigger, number>();
  readonly #held = new Set<string>();
  /** Runs by trigger and id that may be forgotten: a sweep must not look at what waits. */
  readonly #over = new Map<Trigger, Map<string, Run>>();
  readonly #listeners = new Set<RunListener>();

  readonly #kept: KeptRuns | undefined;
  /** Runs that ended and are to be kept together. */
  #ended: Run[] | undefined;

  constructor(clock: Clock, kept: KeptRuns | undefined) {
    this.#clock = clock;
    this.#kept = kept;
    for (const run of kept?.all() ?? []) this.#add(run);
    this.#sweep();
  }

  accept(opening: { readonly id: string; readonly trigger: Trigger } & RunFacts): Run {
    const now = this.#clock.now();
    const run: Run = {
      id: opening.id,
      trigger: opening.trigger,
      status: "accepted",
      repository: opening.repository ?? "",
      ...(opening.owner === undefined ? {} : { owner: opening.owner }),
      target: opening.target ?? "",
      revision: opening.revision ?? "",
      message: "",
      targets: [],
      createdAt: now,
      updatedAt: now,
    };
    this.#add(run);
    this.#tell(run);
    this.#sweep();
    return run;
  }

  #add(run: Run): void {
    this.#runs.set(run.id, run);
    this.#counts.set(run.trigger, (this.#counts.get(run.trigger) ?? 0) + 1);
    this.#noteEnd(run);
  }

  start(id: string): Run {
    return this.#change(
      id,
      (run, now) => run.status === "running" ? run : { ...run, status: "running", startedAt: now },
    );
  }

  describe(id: string, facts: RunFacts): Run {
    return this.#change(id, (run) => ({ ...run, ...facts }));
  }

  target(id: string, entry: RunTarget): Run {
    return this.#change(
      id,
      (run) => ({ ...run, targets: withTarget(run.targets, fittingTarget(entry)) }),
    );
  }

  hold(id: string): () => void {
    this.#held.add(id);
    for (const over of this.#over.values()) over.delete(id);
    return () => {
      this.#held.delete(id);
      this.#noteEnd(this.#runs.get(id));
      this.#sweep();
    };
  }

  finish(id: string, end: RunEnd): Run {
    const isFirstEnd = !isTerminal(this.#runs.get(id)?.status ?? "accepted");
    const finished = this.#change(id, (run, now) => ({
      ...run,
      status: end.status,
      message: fittingText(end.message.trim()),
      targets: fittingTargets(run.targets),
      startedAt: run.startedAt ?? now,
      finishedAt: now,
    }));
    if (isFirstEnd && this.#ended !== undefined) this.#ended.push(finished);
    else if (isFirstEnd) this.#keep([finished]);
    this.#noteEnd(finished);
    this.#sweep();
    return finished;
  }

  together(work: () => void): void {
    const ended: Run[] = this.#ended = [];
    try {
      work();
    } finally {
      this.#ended = undefined;
      this.#keep(ended);
    }
  }

  #keep(runs: readonly Run[]): void {
    try {
      this.#kept?.keep(runs);
    } catch {
      // Finished work stays done; a full disk is reported by what needs it.
    }
  }

  get(id: string): Run | undefined {
    if (!this.#runs.has(id)) this.#hear();
    const run = this.#runs.get(id);
    return run === undefined || this.#hasExpired(run) ? undefined : run;
  }

  list(filter: RunFilter): Run[] {
    this.#hear();
    this.#sweep();
    return [...this.#runs.values()].reverse()
      .filter((run) => !this.#hasExpired(run))
      .filter((run) => filter.status === undefined || run.status === filter.status)
      .filter((run) => filter.trigger === undefined || run.trigger === filter.trigger)
      .slice(0, filter.limit);
  }

  subscribe(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds runs that other processes, such as commands, have kept; a listener would take them for its own. */
  #hear(): void {
    const unknown = this.#news();
    if (unknown.length === 0) return;
    for (const run of unknown) this.#add(run);
    this.#sweep();
  }

  /** New runs; ignores failures, as a damaged ledger is reported by what needs it. */
  #news(): readonly Run[] {
    try {
      return this.#kept?.news((id) => this.#runs.has(id)) ?? [];
    } catch {
      return [];
    }
  }

  #change(id: string, change: (run: Run, now: Date) => Run): Run {
    const before = this.#runs.get(id);
    if (before === undefined) {
      throw errors.internal(`BUG: there is no run ${id} to change`);
    }
    if (isTerminal(before.status)) return before;
    const now = this.#clock.now();
    const after = change(before, now);
    if (after === before) return before;
    const stored = { ...after, updatedAt: now };
    this.#runs.set(id, stored);
    this.#tell(stored);
    return stored;
  }

  #tell(run: Run): void {
    for (const listener of this.#listeners) listener(run);
  }

  /** Held runs stay: after a shutdown ended a run, its work may still report to it. */
  #noteEnd(run: Run | undefined): void {
    if (run === undefined || !isTerminal(run.status) || this.#held.has(run.id)) return;
    this.#over.getOrInsertComputed(run.trigger, () => new Map()).set(run.id, run);
  }

  /** Forgets finished runs: first the expired ones, then those beyond the limit of a trigger. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [trigger, over] of this.#over) {
      for (const run of over.values()) if (this.#hasExpired(run, now)) this.#drop(run);
      while ((this.#counts.get(trigger) ?? 0) > RUNS_PER_TRIGGER) {
        const run = firstToGo([...over.values()]);
        if (run === undefined) break;
        this.#drop(run);
      }
    }
  }

  #drop({ id, trigger }: Run): void {
    this.#runs.delete(id);
    this.#over.get(trigger)?.delete(id);
    this.#counts.set(trigger, (this.#counts.get(trigger) ?? 1) - 1);
  }

  #hasExpired(run: Run, now = this.#clock.now()): boolean {
    const age = now.getTime() - run.createdAt.getTime();
    return isTerminal(run.status) && age >= RUN_LIFETIME_MS;
  }
}

/** The targets, which are sorted by context, then stack, with `entry` added or replaced. */
function withTarget(targets: readonly RunTarget[], entry: RunTarget): RunTarget[] {
  const { context, stack } = entry;
  const order = (each: RunTarget) => byText(each.context, context) || byText(each.stack, stack);
  const at = placeAmong(targets, (each) => order(each) < 0);
  const known = targets[at];
  const isKnown = known !== undefined && order(known) === 0;
  return targets.toSpliced(at, isKnown ? 1 : 0, entry);
}
