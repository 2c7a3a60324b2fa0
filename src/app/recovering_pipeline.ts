import { DEFAULT_CONTEXT, type RunReporter, type StackKey } from "../model/mod.ts";
import { createPipeline, type Pipeline } from "../pipeline.ts";
import { abortable, atEnd, type Clock, within } from "../system/mod.ts";
import type { Assembly } from "./assemble.ts";

/**
 * Milliseconds for which other work waits for interrupted work at a start. Most of that is finished
 * by then; what takes longer then blocks only its own stacks, whose locks it holds.
 */
export const HEAD_START_MS = 30_000;

/** A pipeline that finishes interrupted work first. */
interface RecoveringPipeline extends Pipeline {
  /** Resolves when no interrupted work is being finished. */
  recovered(): Promise<void>;
}

/** The pipeline, with the recovery that it has begun. */
interface Begun {
  readonly pipeline: Pipeline;
  readonly finished: Promise<unknown>;
  /** Resolves when other work may begin. */
  readonly open: Promise<unknown>;
}

/**
 * Makes the pipeline, which finishes interrupted work before any other. Repositories decide how
 * long that takes (`timeout`), so after {@link HEAD_START_MS} other work begins beside it, except
 * on stacks being finished. Only `stop` aborts recovery, no client that disconnects.
 */
export function recoveringPipeline(
  { ledger, pipelineParts }: Pick<Assembly, "ledger" | "pipelineParts">,
  clock: Clock,
  stop: AbortSignal,
): RecoveringPipeline {
  const recovery = new Recovery({ ledger, pipelineParts, clock }, stop);
  const ready = async (signal: AbortSignal) => {
    const { pipeline, open } = await recovery.begin(signal);
    await abortable(open, signal);
    return pipeline;
  };
  return {
    execute: async (work, reporter, signal) => {
      await (await ready(signal)).execute(work, reporter, signal);
    },
    runJob: async (work, reporter, jobs, signal) => {
      return await (await ready(signal)).runJob(work, reporter, jobs, signal);
    },
    rollBack: async (work, reporter, signal) => {
      await (await ready(signal)).rollBack(work, reporter, signal);
    },
    recover: (signal, reporter) => recovery.finish(signal, reporter),
    recovered: () => recovery.over(),
    reconcile: async (key, why, signal) => (await ready(signal)).reconcile(key, why, signal),
    strayed: async (context, signal) => (await ready(signal)).strayed(context, signal),
  };
}

type RecoveryParts = Pick<Assembly, "ledger" | "pipelineParts"> & { readonly clock: Clock };

/** The recovery of interrupted work, and its state. */
class Recovery {
  readonly #parts: RecoveryParts;
  readonly #stop: AbortSignal;
  /** Contexts whose engines open intents wait for. */
  #waiting: ReadonlySet<string> = new Set();
  #isFinishing = false;
  #attempt: Promise<Begun> | undefined;

  constructor(parts: RecoveryParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  /** The pipeline, once it is made; callers share an attempt until it fails. */
  begin(signal: AbortSignal, reporter?: RunReporter): Promise<Begun> {
    this.#attempt ??= this.#begin(reporter).catch((error) => {
      this.#attempt = undefined;
      throw error;
    });
    return abortable(this.#attempt, signal);
  }

  /** Waits for the recovery, retries it where engines were away; returns contexts that wait. */
  async finish(signal: AbortSignal, reporter?: RunReporter): Promise<ReadonlySet<string>> {
    const { pipeline, finished, open } = await this.begin(signal, reporter);
    await abortable(Promise.all([finished, open]), signal);
    // Only where engines were away: what failed otherwise is tried again by the next look at its stack.
    const isDue = ({ context }: StackKey) => this.#waiting.has(context);
    if (this.#waiting.size > 0) this.#waiting = await pipeline.recover(signal, reporter, isDue);
    return this.#waiting;
  }

  async over(): Promise<void> {
    await this.#attempt?.then(({ finished }) => finished).catch(() => {});
  }

  async #begin(reporter?: RunReporter): Promise<Begun> {
    const { pipelineParts, clock } = this.#parts;
    const parts = await pipelineParts(this.#stop);
    // Deployments finish interrupted work of their own stack first, or wait for it.
    const waitsFor = (context: string) =>
      this.#isFinishing || context !== DEFAULT_CONTEXT || this.#waiting.has(context);
    const pipeline = createPipeline({ ...parts, waitsFor });
    const finished = this.#finish(pipeline, reporter);
    const open = within(finished, HEAD_START_MS, clock, this.#stop)
      .then(() => parts.trees.collect(this.#stop));
    Promise.all([finished, open]).catch(() => this.#attempt = undefined);
    return { pipeline, finished, open };
  }

  async #finish(pipeline: Pipeline, reporter?: RunReporter): Promise<void> {
    this.#isFinishing = true;
    using _ = atEnd(() => this.#isFinishing = false);
    const { ledger } = this.#parts;
    if (ledger.interrupted().length + ledger.owners.uncleared().length === 0) return;
    this.#waiting = await pipeline.recover(this.#stop, reporter);
  }
}
