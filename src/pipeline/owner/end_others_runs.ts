import {
  calledJobs,
  type Destroy,
  endGoneRuns,
  endRuns,
  findJobs,
  haltJobs,
  isFormerRun,
  type JobRunFacts,
  type RunEndParts,
  type RunsEndParts,
  type RunsToEnd,
} from "../../deploy/mod.ts";
import {
  errors,
  fewOf,
  messageOf,
  type Release,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { handedOver, isOfOthers, ownerOfWhatRuns, recordedOwner } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { requireStartable } from "../placed_files.ts";

/**
 * The end of what jobs of a stack's former owner still run, which is said. In the jobs' own containers and
 * services, too, as long as the release that runs is not the new owner's: else that may run them itself.
 */
export async function endOthersRuns(
  parts: PipelineParts,
  { key, swarm }: Pick<Release, "key" | "swarm">,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, log, host: { engine } } = parts;
  const owner = recordedOwner(ledger, key);
  if (owner?.adopted !== true) return;
  const ends: RunsToEnd["ends"] = (run) => isFormerRun(run, owner);
  const isStack = swarm !== undefined;
  // At once: its author decides how long it takes to stop.
  const ended = await endRunsOf(parts, { key, isStack, ends, seconds: 0 }, signal);
  if (isOfOthers(ledger, key)) {
    const where = { context: key.context, isManager: isStack, of: { project: key.name } };
    const jobs = await calledJobs(ledger, await findJobs(engine, where, signal));
    const own = jobs.filter((each) => (each.swarm !== undefined) === isStack);
    ended.push(...await haltJobs({ engine }, own, signal));
  }
  if (ended.length === 0) return;
  const text = `ended what jobs of the stack's former owner ran: ${fewOf(ended)}`;
  log.warning(text, { stack: key.name, context: key.context });
}

function endRunsOf(
  parts: PipelineParts,
  which: RunsToEnd,
  signal: AbortSignal,
): Promise<string[]> {
  return endRuns(endingParts(parts, which.key), which, signal);
}

/** What the end of runs of a stack's jobs takes. */
function endingParts(parts: PipelineParts, key: StackKey): RunsEndParts {
  const { host: { engine }, ledger, clock, log } = parts;
  return {
    ...{ engine, clock, log },
    startable: (owner) => startableBy(parts, key, owner),
    notesOf: (service) => ledger.stoppedByJobs.of(key, service),
  };
}

/** The end of the runs of a stack's jobs that a removal takes away, as containers or as services. */
export async function endRunsWith(
  parts: PipelineParts,
  { key, requireStill, whyKept }: Pick<Destroy, "key" | "requireStill" | "whyKept">,
  modes: readonly ("containers" | "services")[],
  signal: AbortSignal,
): Promise<void> {
  for (const mode of modes) {
    const isStack = mode === "services";
    const ends: RunsToEnd["ends"] = (run) =>
      whyKept?.(run, isStack ? "service" : "container") === undefined;
    await endRunsOf(parts, { key, isStack, ends, requireStill }, signal);
  }
}

/**
 * The start of what runs of a stack's jobs had stopped whose containers or services a change of it has removed:
 * where their process was killed, only a note tells of that. What fails stays noted for the next look for jobs.
 */
export async function endGoneRunsOf(
  parts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, log } = parts;
  for (const noted of ledger.stoppedByJobs.all(key.context, key.name)) {
    const run = { noted, owner: ownerOfWhatRuns(ledger, key) };
    await endGoneRuns(endingParts(parts, key), run, signal).catch((error) => {
      signal.throwIfAborted();
      const text = `what job ${noted.service} had stopped is started at the next look for jobs`;
      log.warning(`${text}: ${messageOf(error)}`, { stack: key.name, context: key.context });
    });
  }
}

/**
 * The check before something of a stack is started that a run of a job has stopped: throws as
 * {@link requireStartable} does, and `conflict` where a person has stopped the stack since, or handed it
 * over to another than the owner of the run.
 */
function startableBy(
  parts: PipelineParts,
  { context }: Pick<StackKey, "context">,
  owner: StackOwner | undefined,
): RunEndParts["requireStartable"] {
  return async (stack, signal) => {
    const key = { context, name: stack };
    await requireStartable(parts, key, { needsFiles: false }, signal);
    if (parts.ledger.stops.get(key) !== undefined) {
      throw errors.conflict(`nothing of ${stack} is started: a person stopped it meanwhile`);
    }
    const over = handedOver(parts.ledger, key, [owner]);
    if (over !== undefined) throw over;
  };
}

/** What a run of a stack's job asks at its end, which began in the name of `owner`. */
export function endingBy(
  parts: PipelineParts,
  key: StackKey,
  owner: StackOwner | undefined,
): Pick<JobRunFacts, "requireStartable" | "isTaken"> {
  const { ledger } = parts;
  return {
    requireStartable: startableBy(parts, key, owner),
    isTaken: () =>
      handedOver(ledger, key, [owner]) !== undefined && ledger.owners.toClear(key) === 0,
  };
}
