import { errors, messageOf, type StackKey } from "../../model/mod.ts";
import { type Clock, createLimiter, type Log, withDeadline } from "../../system/mod.ts";

/** Port for what runs of jobs have made and stopped: containers, or services of a swarm. */
export interface RunsEngine<Stopped> {
  /** A run's own container or service, made by a process that died; nothing when it is gone. */
  made(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly stops: readonly Stopped[]; readonly isStarted: boolean } | undefined>;
  /** The name of the stack that something stopped belongs to; empty without any. */
  stackOf(stopped: Stopped, signal: AbortSignal): Promise<string>;
  /** Starts one again, unless somebody else did meanwhile. */
  startAgain(stopped: Stopped, signal: AbortSignal): Promise<void>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** Ports for the end of a run of a job. */
export interface RunEndParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly key: StackKey;
  readonly service: string;
  /** Throws when nothing of a stack may be started now, by what its containers did to its files. */
  readonly requireStartable: (stack: string, signal: AbortSignal) => Promise<void>;
}

/** Services or containers that one run stops: how many there are of a service is up to its engine. */
export const MOST_STOPS = 1000;
/** Those that are stopped or started at once: hundreds would keep the engine busy for others. */
const AT_ONCE = 16;
/** Milliseconds for the cleanup after a run was cancelled, and for each that is started again. */
const CLEANUP_MS = 60_000;
const START_MS = 1000;

/**
 * Starts again what a run has stopped, then does away with what it runs as, where that is asked for. What
 * fails is logged. What is removed is read before, and what was stopped does not wait for that.
 */
export async function endRun<Stopped>(
  { clock, log, key, service, requireStartable }: RunEndParts,
  engine: RunsEngine<Stopped>,
  { stopped, putAway, reading = Promise.resolve() }: {
    readonly stopped: readonly Stopped[];
    readonly putAway?: ((signal: AbortSignal) => Promise<void>) | undefined;
    readonly reading?: Promise<void>;
  },
): Promise<void> {
  const late = () => errors.timeout("the engine did not answer");
  const results = await withDeadline(
    { clock, milliseconds: CLEANUP_MS + stopped.length * START_MS, late },
    async (patient) => {
      const asked = new Map<string, Promise<void>>();
      const start = async (each: Stopped) => {
        const stack = await engine.stackOf(each, patient);
        await asked.getOrInsertComputed(stack, () => requireStartable(stack, patient));
        await engine.startAgain(each, patient);
      };
      const started = await someAtOnce(stopped, start, patient);
      await reading;
      if (putAway === undefined) return started;
      // The run's own label is the only record of what was stopped, so it goes last.
      return [...started, ...await Promise.allSettled([putAway(patient)])];
    },
    new AbortController().signal,
  );
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const said = log.with({ stack: key.name, context: key.context, job: service });
    said.error(`after the run of a job: ${messageOf(result.reason)}`);
  }
}

/** Results of work on many, a few at a time; rejects never. */
export async function someAtOnce<Each>(
  all: readonly Each[],
  work: (each: Each) => Promise<void>,
  signal: AbortSignal,
): Promise<PromiseSettledResult<void>[]> {
  const { run } = createLimiter(AT_ONCE);
  return await Promise.allSettled(all.map((each) => run(() => work(each), signal)));
}
