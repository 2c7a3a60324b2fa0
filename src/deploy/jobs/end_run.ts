import {
  type ErrorCode,
  errors,
  isStackwrightError,
  messageOf,
  type StackKey,
} from "../../model/mod.ts";
import { createLimiter, withDeadline } from "../../system/mod.ts";
import { type EngineWaitParts, engineWasAway, isLeaderless, saysAway } from "../engine_away.ts";

/** Port for what runs of jobs have made and stopped: containers, or services of a swarm. */
export interface RunsEngine<Stopped> {
  /** The container or service of a run; nothing when it is gone. */
  made(id: string, signal: AbortSignal): Promise<MadeForRun<Stopped> | undefined>;
  /** The name of the stack that something stopped belongs to; empty without any. */
  stackOf(stopped: Stopped, signal: AbortSignal): Promise<string>;
  /** Starts one again, unless somebody else did meanwhile. */
  startAgain(stopped: Stopped, signal: AbortSignal): Promise<void>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** What a run made, or the job's own container or service. */
interface MadeForRun<Stopped> {
  readonly stops: readonly Stopped[];
  readonly isStarted: boolean;
  /** Whether it runs, where its engine may start what is stopped; a swarm starts nothing without tasks. */
  readonly goesOn?: boolean;
}

/** Ports for the end of a run of a job. */
export interface RunEndParts extends Omit<EngineWaitParts, "progress"> {
  readonly key: StackKey;
  readonly service: string;
  /** Throws when nothing of a stack may be started now, by what its containers did to its files. */
  readonly requireStartable: (stack: string, signal: AbortSignal) => Promise<void>;
}

/** What a run of a job has stopped, and what is done with that. */
interface RunEnding<Stopped> {
  readonly stopped: readonly Stopped[];
  /** Records, before anything is put away, what was not started again and may be started by somebody later. */
  readonly keep?: (left: readonly Stopped[]) => void;
  /** Does away with what the run runs as. */
  readonly putAway?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** What is read of it before. */
  readonly reading?: Promise<void>;
}

/** Services or containers that one run stops: how many there are of a service is up to its engine. */
export const MOST_STOPS = 1000;
/** Those that are stopped or started at once: hundreds would keep the engine busy for others. */
const AT_ONCE = 16;
/** Milliseconds for the cleanup after a run was cancelled, and for each that is started again. */
const CLEANUP_MS = 60_000;
const START_MS = 1000;
/** Most rounds of a cleanup in which the engine went away: one that answers nothing but what it is holds locks. */
const MOST_ROUNDS = 10;
/** Milliseconds before another round. */
const AGAIN_MS = 1000;

/**
 * Starts again what a run has stopped, then does away with what it runs as, where that is asked for: waits for an
 * engine that is away, until the signal aborts. What fails is logged, and what may be started later is kept. What is
 * removed is read before, and what was stopped does not wait for that. Throws only what `keep` throws.
 */
export async function endRun<Stopped>(
  parts: RunEndParts,
  engine: RunsEngine<Stopped>,
  ending: RunEnding<Stopped>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, key, service } = parts;
  const { keep = () => {}, putAway } = ending;
  const late = () => errors.engine_unreachable("the engine did not answer");
  const said = log.with({ stack: key.name, context: key.context, job: service });
  const tell = (error: unknown) => said.error(`after the run of a job: ${messageOf(error)}`);
  let left = ending.stopped;
  for (let round = 1;; round++) {
    const milliseconds = CLEANUP_MS + left.length * START_MS;
    const failed = await withDeadline({ clock, milliseconds, late }, async (patient) => {
      const results = await startAll(parts, engine, left, patient);
      await ending.reading;
      results.filter(({ isOver }) => isOver).forEach(({ error }) => tell(error));
      const failures = results.filter(({ isOver }) => !isOver);
      left = failures.map(({ each }) => each);
      keep(left);
      // The label of what a run runs as, or the record, tells what was stopped: it goes last.
      const away = failures.map(({ error }) => error).filter(saysAway);
      if (putAway === undefined || away.length > 0) return failures.map(({ error }) => error);
      const [put] = await Promise.allSettled([putAway(patient)]);
      return [...failures, ...put.status === "rejected" ? [{ error: put.reason }] : []]
        .map(({ error }) => error);
    }, new AbortController().signal);
    const away = failed.find((each) => saysAway(each) || isLeaderless(each));
    const isLast = away === undefined || round === MOST_ROUNDS;
    if (isLast || !await isBack(parts, away, signal)) return failed.forEach(tell);
  }
}

/** Waits until the engine answers; whether it does, unless the signal aborts before. */
async function isBack(
  parts: RunEndParts,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await engineWasAway({ ...parts, progress: () => {} }, error, signal);
    await parts.clock.sleep(AGAIN_MS, signal);
    return true;
  } catch (thrown) {
    if (signal.aborted) return false;
    throw thrown;
  }
}

/** Starts all; returns those that failed, and whether there is nothing to start any more. */
async function startAll<Stopped>(
  { requireStartable }: Pick<RunEndParts, "requireStartable">,
  engine: RunsEngine<Stopped>,
  stopped: readonly Stopped[],
  signal: AbortSignal,
) {
  const asked = new Map<string, Promise<void>>();
  const results = await someAtOnce(stopped, async (each) => {
    const stack = await engine.stackOf(each, signal);
    await asked.getOrInsertComputed(stack, () => requireStartable(stack, signal));
    await engine.startAgain(each, signal);
  }, signal);
  return stopped.flatMap((each, at) => {
    const result = results[at];
    if (result?.status !== "rejected") return [];
    return [{ each, error: result.reason as unknown, isOver: isOver(result.reason) }];
  });
}

/** Whether what was stopped is gone, or another's by now, or a person stopped it: nobody starts it again. */
function isOver(error: unknown): boolean {
  return ["conflict", "not_found"].some((code) => isStackwrightError(error, code as ErrorCode)) ||
    /^engine refused \w+ \S+: 404\b/.test(messageOf(error));
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

/** The reasons of those that failed. */
export function reasonsOf(results: readonly PromiseSettledResult<void>[]): unknown[] {
  return results.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
}
