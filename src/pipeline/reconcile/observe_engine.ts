import { readJobLabels } from "../../config/mod.ts";
import { calledJobs, findJobs, type FoundJob, observeAll } from "../../deploy/mod.ts";
import type { Engine } from "../../docker/mod.ts";
import { isStackwrightError, type ObservedStack } from "../../model/mod.ts";
import { type Ledger, whoseStop } from "../../record/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { saidBy } from "../owner/own_things.ts";

/** Characters of other texts that take as long as finding out whose a stack is. */
const A_STOP = 1024;

/** State of an engine: its stacks by name, its jobs, and the stacks in which these have stopped services. */
export interface SeenEngine {
  readonly stacks: ReadonlyMap<string, ObservedStack>;
  readonly jobs: readonly FoundJob[];
  readonly stopped: ReadonlyMap<string, string>;
}

/** Which part of an engine to look at. */
interface SeenPlace {
  readonly context: string;
  /** Whether to include services of a swarm. */
  readonly isManager: boolean;
  /** Name of the only stack to look at; all by default. */
  readonly stack?: string;
}

/** Looks at all stacks of an engine, or at one, and at its jobs. */
export async function observeEngine(
  engine: Engine,
  ledger: Ledger,
  place: SeenPlace,
  signal: AbortSignal,
): Promise<SeenEngine> {
  const { isManager: withServices, stack } = place;
  const stacks = await observeAll(engine, signal, { withServices, stack });
  const jobs = await calledJobs(ledger, await findJobs(engine, place, signal));
  return { stacks, jobs, stopped: await stoppedForJobs(ledger, { stacks, jobs }) };
}

/**
 * The stacks in which a running job has stopped services, by name, with a sentence about that: such
 * services are no drift. Read from the engine, so that every process sees it.
 */
async function stoppedForJobs(
  ledger: Ledger,
  { stacks, jobs }: Pick<SeenEngine, "stacks" | "jobs">,
): Promise<ReadonlyMap<string, string>> {
  // The container of a run exists until the services that its job stopped are back.
  const running = jobs
    .filter(({ container, executions }) => executions.length > 0 || container.state === "running");
  const stopped = new Map<string, string>();
  const pauses = createPauses();
  for (const { key, service, container } of running) {
    try {
      const spec = readJobLabels(container.labels, { project: key.name, service });
      for (const { project, service: stops } of spec?.stopServices ?? []) {
        const said = saidBy(ledger, { ...key, name: project }, stacks.get(project));
        await pauses.after(A_STOP);
        if (whoseStop(ledger, key, project, said) !== undefined) continue;
        stopped.set(project, `job ${key.name}/${service} runs, and has ${stops} stopped meanwhile`);
      }
    } catch (error) {
      // A job with invalid labels never runs, so it has stopped nothing.
      if (!isStackwrightError(error, "config_invalid")) throw error;
    }
  }
  return stopped;
}
