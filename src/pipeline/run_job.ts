import { type JobSpec, readJobLabels } from "../config/mod.ts";
import {
  calledJobs,
  containerJobs,
  findJobs,
  type FoundJob,
  type InjectedFile,
  injectedFiles,
  JobRun,
  observeAll,
  ownerOf,
  SwarmJobs,
  withPlainDollars,
} from "../deploy/mod.ts";
import type { Engine, EngineClient } from "../docker/mod.ts";
import {
  errors,
  formatStackKey,
  isOurs,
  isStackwrightError,
  type ObservedStack,
  type Progress,
  type RunJob,
  type RunReporter,
  type StackKey,
  toStackwrightError,
} from "../model/mod.ts";
import { composeCall, requireImages, requireNotStopped } from "../prepare/mod.ts";
import type { Ledger } from "../record/mod.ts";
import { bringToDisk } from "./placed_files.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import { observeAnyway } from "./stack_mode.ts";
import { mayStop, recordedOwner } from "./stack_owner.ts";
import { waitForStack } from "./waits.ts";

/** Results of the runs of jobs, in memory. */
interface JobResults {
  /** Remembers how the last run of a job ended; without a code nobody knows. */
  set(key: StackKey, service: string, exitCode: number | undefined): void;
}

/** Parts for running jobs, beside those of the pipeline. */
export interface JobParts {
  readonly engine: EngineClient;
  readonly results: JobResults;
  /** Whether an abort means that another process takes the run over: then it goes on by itself. */
  readonly leaves: () => boolean;
  /** A new name for one run. */
  readonly nextId: () => string;
}

/**
 * Runs a job: its own container is started, or one is made for the run and waited for. Services that
 * it stops are started again in any case. What kept it from ending well is told of its target.
 */
export async function runJob(
  anyParts: PipelineParts,
  jobs: JobParts,
  { work, reporter }: { readonly work: RunJob; readonly reporter: RunReporter },
  signal: AbortSignal,
): Promise<void> {
  const { key, service } = work;
  const tell = (status: "running" | "succeeded" | "failed", message: string) =>
    reporter.target({ context: key.context, stack: key.name, status, message });
  const owner = recordedOwner(anyParts.ledger, key)?.source;
  if (owner !== undefined) reporter.describe({ owner });
  tell("running", "starting");
  let code: number | undefined;
  let failed = true;
  let ended: ((failed: boolean) => void) | undefined;
  try {
    const parts = await partsFor(anyParts, key, signal);
    const { found, spec } = await findJob(parts, work, signal);
    // What runs already goes on, for nobody else would start again what it has stopped.
    if (work.adopts === undefined) await requireOwnStops(parts, key, spec, signal);
    await requireNotStopped(parts.host, spec.stopServices, signal);
    reporter.describe({ repository: `scheduled:${found.container.name}`, target: key.name });
    const progress = (text: string) => tell("running", text);
    ended = measured(parts, found, spec);
    const run = createRun(parts, jobs, { work, found, spec, progress }, signal);
    code = await runThrough(parts, run, { work, spec }, signal);
    if ((code ?? 0) !== 0) {
      const what = `container ${key.name}/${service} exited with status ${code}`;
      throw errors.deploy_failed(`${what}${run.output}`);
    }
    failed = false;
    tell("succeeded", `job ${service} ${code === undefined ? "was started" : "has run"}`);
  } catch (thrown) {
    const error = toStackwrightError(signal.aborted ? signal.reason : thrown, `running ${service}`);
    tell("failed", error.message);
  } finally {
    ended?.(failed);
    jobs.results.set(key, service, code);
  }
}

/**
 * Refuses a job that stops services of another source's stack, which it would have for itself as long as it
 * likes. Throws `conflict`.
 */
async function requireOwnStops(
  parts: Pick<PipelineParts, "host" | "ledger">,
  key: StackKey,
  { stopServices }: JobSpec,
  signal: AbortSignal,
): Promise<void> {
  const own = recordedOwner(parts.ledger, key)?.source;
  for (const { project, service } of stopServices) {
    const owner = project === key.name
      ? undefined
      : await ownerAnyway(parts, { ...key, name: project }, signal);
    if (owner === undefined || owner === own) continue;
    throw errors.conflict(
      `the job was not run: it stops ${project}/${service}, and ${project} runs from ${owner}; a job stops ` +
        "what its own source deploys: take that out of stop_services, or deploy both from one configuration",
    );
  }
}

/** The source that deploys a stack: its labels tell it where the ledger was lost, or is another's. */
async function ownerAnyway(
  parts: Pick<PipelineParts, "host" | "ledger">,
  key: StackKey,
  signal: AbortSignal,
): Promise<string | undefined> {
  const recorded = recordedOwner(parts.ledger, key)?.source;
  if (recorded !== undefined) return recorded;
  const { containers } = await observeAnyway(parts, key, signal);
  const ours = containers.find(isOurs);
  return ours && ownerOf(ours.labels);
}

interface JobToRun {
  readonly work: RunJob;
  readonly found: FoundJob;
  readonly spec: JobSpec;
  readonly progress: Progress;
}

type AnyRun = Pick<JobRun<unknown>, "begin" | "adopt" | "end" | "output">;

/** Makes a run of a job, which starts nothing yet. */
function createRun(
  parts: PipelineParts,
  jobs: JobParts,
  { work, found, spec, progress }: JobToRun,
  signal: AbortSignal,
): AnyRun {
  const { clock, log, host: { images } } = parts;
  const facts = { ...jobs, clock, log, found, spec, progress };
  const ready = (within: AbortSignal) => readyJob(parts, work, progress, within);
  if (found.swarm === undefined) return new JobRun(facts, containerJobs({ ...facts, ready }));
  const { swarm } = jobs.engine;
  const auth = (image: string) => images.credentials(image, signal);
  return new JobRun(facts, new SwarmJobs({ ...facts, swarm, service: found.swarm, auth }));
}

/** Begins a run, or takes it over, and waits for its end; returns the status of its container. */
async function runThrough(
  parts: PipelineParts,
  run: AnyRun,
  { work: { key, adopts }, spec }: Pick<JobToRun, "work" | "spec">,
  signal: AbortSignal,
): Promise<number | undefined> {
  const locks = locksOf(key, spec);
  const begin = () => adopts === undefined ? run.begin(signal) : run.adopt(adopts, signal);
  const end = () => run.end(signal);
  // Who stops others has their stacks for itself, so that nobody starts them meanwhile. Any other
  // only while it begins, since deployments look for its container.
  if (spec.stopServices.length > 0) {
    return await locked(parts, locks, async () => await begin().then(end), signal);
  }
  await locked(parts, locks, begin, signal);
  return await end();
}

/** Measures a run of a job from now on; what it returns is told how it ended. */
function measured(
  { meter, clock }: PipelineParts,
  { key, container, swarm }: FoundJob,
  spec: JobSpec,
): (failed: boolean) => void {
  const labels = {
    context: key.context,
    stack: key.name,
    job: container.name,
    mode: swarm === undefined ? "container" : "swarm",
    execution_mode: spec.mode,
  };
  const began = clock.now().getTime();
  meter.move("scheduled_runs_active", labels, 1);
  return (failed) => {
    meter.move("scheduled_runs_active", labels, -1);
    meter.count("scheduled_runs_total", labels);
    meter.count("scheduled_run_errors_total", labels, failed ? 1 : 0);
    const seconds = (clock.now().getTime() - began) / 1000;
    meter.observe("scheduled_run_duration_seconds", labels, seconds);
  };
}

async function findJob(
  { host: { engine, info }, ledger }: PipelineParts,
  { key, service }: RunJob,
  signal: AbortSignal,
): Promise<{ readonly found: FoundJob; readonly spec: JobSpec }> {
  const isManager = (await info(signal)).swarm === "manager";
  // Of no other job: each of hundreds may be about to run, and what is recorded is asked for each found.
  const of = key.name === "" ? undefined : { project: key.name, service };
  const all = await findJobs(engine, { context: key.context, isManager, of }, signal);
  const isIt = (each: FoundJob) =>
    formatStackKey(each.key) === formatStackKey(key) && each.service === service;
  const [found] = await calledJobs(ledger, all.filter(isIt));
  const own = { project: key.name, service };
  const spec = found && readJobLabels(found.container.labels, own);
  if (found !== undefined && spec !== undefined) return { found, spec };
  throw errors.not_found(`${key.name} has no job ${service} any more`);
}

/**
 * Sees to it that the image of a job is there, where its release is recorded; returns the files that a
 * container of it is given.
 */
async function readyJob(
  parts: PipelineParts,
  { key, service }: RunJob,
  progress: Progress,
  signal: AbortSignal,
): Promise<InjectedFile[]> {
  const recorded = parts.ledger.current(key);
  const placed = recorded && await bringToDisk(parts, recorded, signal);
  if (recorded === undefined || placed === undefined) return [];
  progress("looking for its image");
  const services = [{ name: service, action: "create", because: ["its job runs"] }] as const;
  const { images } = recorded;
  await requireImages(parts, placed, { services, progress, images }, signal);
  const { variables } = composeCall(parts, placed);
  return injectedFiles(withPlainDollars(placed.release.model), service, variables);
}

/** The stacks that a job is about: its own, and those of the services it stops. */
function locksOf(key: StackKey, { stopServices }: JobSpec): StackKey[] {
  const names = new Set([key.name, ...stopServices.map(({ project }) => project)]);
  return [...names].sort().map((name) => ({ context: key.context, name }));
}

/** In order of their names, so that no two jobs wait for each other. */
async function locked<T>(
  parts: PipelineParts,
  [first, ...rest]: readonly StackKey[],
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (first === undefined) return await work();
  return await parts.stackLock.run(formatStackKey(first), async () => {
    await waitForStack(parts, first, () => {}, signal);
    return await locked(parts, rest, work, signal);
  }, signal);
}

/** What runs on an engine by the name of the stack, and what jobs have stopped there. */
export interface SeenEngine {
  readonly stacks: ReadonlyMap<string, ObservedStack>;
  readonly stopped: ReadonlyMap<string, string>;
}

/** An engine that is looked at. */
interface SeenPlace {
  readonly context: string;
  /** Whether services of a swarm are among what it runs. */
  readonly isManager: boolean;
  /** Name of the only stack of which it is asked what runs. */
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
  return { stacks, stopped: await stoppedForJobs(engine, ledger, place, signal) };
}

/**
 * The stacks of which a job that runs now has stopped services, by name, with a sentence about that: what
 * a job stopped nobody changed by hand. It is read from the engine, so every process sees it.
 */
async function stoppedForJobs(
  engine: Engine,
  ledger: Ledger,
  place: SeenPlace,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const jobs = (await calledJobs(ledger, await findJobs(engine, place, signal)))
    // What was made for a run is there until all was put back.
    .filter(({ container, executions }) => executions.length > 0 || container.state === "running");
  const stopped = new Map<string, string>();
  for (const { key, service, container } of jobs) {
    try {
      const spec = readJobLabels(container.labels, { project: key.name, service });
      for (const stop of spec?.stopServices ?? []) {
        if (!mayStop(ledger, key, stop.project)) continue;
        const text = `job ${key.name}/${service} runs, and has ${stop.service} stopped meanwhile`;
        stopped.set(stop.project, text);
      }
    } catch (error) {
      // Labels that are wrong run no job.
      if (!isStackwrightError(error, "config_invalid")) throw error;
    }
  }
  return stopped;
}
