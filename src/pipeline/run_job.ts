import { type JobSpec, readJobLabels } from "../config/mod.ts";
import {
  calledJobs,
  containerJobs,
  findJobs,
  type FoundJob,
  type InTurn,
  jobOfRun,
  JobRun,
  ownerOfRun,
  swarmJobs,
  withoutLabels,
} from "../deploy/mod.ts";
import {
  errors,
  isStackwrightError,
  type Progress,
  type RunEnd,
  type RunJob,
  type RunReporter,
  type RunTarget,
  type StackOwner,
  toStackwrightError,
} from "../model/mod.ts";
import { requireNotStopped } from "../prepare/mod.ts";
import {
  locksOfJob,
  type OthersSay,
  ownerOfWhatRuns,
  recordedOwner,
  whoseStop,
  whyLeft,
} from "../record/mod.ts";
import { type JobParts, partsFor, type PipelineParts } from "./parts.ts";
import { readyJob, requireStartable } from "./placed_files.ts";
import { endingBy } from "./owner/end_others_runs.ts";
import { saidBy } from "./owner/own_things.ts";
import { requireServiceFree } from "./owner/require_free.ts";
import { observeAnyway } from "./stack_mode.ts";
import { ownersElsewhere } from "./owner_elsewhere.ts";
import { jobCredentials } from "./stack_owner.ts";
import { locked, outwaitProcess, untilSettled, waitForProcess, whileOwned } from "./waits.ts";
import { measuredJob } from "../tell/mod.ts";

/** What is said of a run of a job that the end of this process does not end. */
const LEFT = "left running; the next start takes it over";
/** What is said of a run while a person has the stack stopped. */
const STOPPED =
  "not run: its stack was stopped over the API; its jobs run again once that is started";

/**
 * Runs a job: starts its own container, or makes one for the run, and waits for its end. Services
 * that it stops are started again in any case. A failure is reported as the target's; the end of
 * the run is returned where it is none: where the next process takes it over, and where it is due by its
 * schedule while a person has the stack stopped. One that a person asked for is refused then.
 */
export async function runJob(
  anyParts: PipelineParts,
  jobs: JobParts,
  { work, reporter }: { readonly work: RunJob; readonly reporter: RunReporter },
  signal: AbortSignal,
): Promise<RunEnd | void> {
  const { key, service } = work;
  const tell = (status: RunTarget["status"], message: string) =>
    reporter.target({ context: key.context, stack: key.name, status, message });
  const skipped = (message: string): RunEnd => {
    tell("skipped", message);
    return { status: "skipped", message };
  };
  const ofStopped = () =>
    work.origin === "automatic" ? skipped(STOPPED) : tell("failed", `the job was ${STOPPED}`);
  const owner = recordedOwner(anyParts.ledger, key)?.source;
  if (owner !== undefined) reporter.describe({ owner });
  if (isOfStopped(anyParts, work)) return ofStopped();
  tell("pending", "starting");
  let code: number | undefined;
  let failed = true;
  let ended: ((failed: boolean) => void) | undefined;
  let run: AnyRun | undefined;
  try {
    const parts = await partsFor(anyParts, key, signal);
    // Before it may be refused: whoever looks for the last run of a job finds it by this name.
    const named = ({ container: { name } }: FoundJob) =>
      reporter.describe({ repository: `scheduled:${name}`, target: key.name });
    const look = () => lookUpJob(parts, work, named, signal);
    const progress = (text: string) => tell("running", text);
    const attempt = async () => {
      const since = parts.ledger.mark(key);
      const toRun = await jobs.looks.run(owner ?? key.name, look, signal);
      ended ??= measuredJob(parts, toRun.found, toRun.spec);
      const facts = { work, ...toRun, progress, since };
      run = createRun(parts, jobs, facts, signal);
      return await runThrough(parts, run, facts, signal);
    };
    const end = await untilSettled(parts, key, attempt, signal);
    if (end === "stopped") {
      failed = false;
      return ofStopped();
    }
    code = end;
    const message = endOf(anyParts, work, code, run?.output);
    failed = false;
    tell("succeeded", message);
  } catch (thrown) {
    const why = run?.isLeft ? LEFT : run === undefined ? whyGone(work, thrown) : undefined;
    if (why !== undefined) {
      failed = false;
      return skipped(why);
    }
    const error = toStackwrightError(signal.aborted ? signal.reason : thrown, `running ${service}`);
    tell("failed", error.message);
  } finally {
    ended?.(failed);
    jobs.results.set(work, code, ended === undefined);
  }
}

/** Why a job that was due is not run, where it went meanwhile: nobody asked for that run, and nothing failed. */
function whyGone({ origin, adopts }: RunJob, thrown: unknown): string | undefined {
  const isDue = origin === "automatic" && adopts === undefined;
  return isDue && isStackwrightError(thrown, "not_found") ? thrown.message : undefined;
}

/** What a run says that began, and ended with `code` where it was waited for. Throws `deploy_failed` for its failure. */
function endOf(
  { ledger }: Pick<PipelineParts, "ledger">,
  { key, service }: RunJob,
  code: number | undefined,
  output = "",
): string {
  const what = `container ${key.name}/${service} ran and exited with status ${code}`;
  if ((code ?? 0) !== 0) throw errors.deploy_failed(what + output);
  if (code === undefined) return `job ${service} was started`;
  const isLeft = ledger.stoppedByJobs.of(key, service).get()?.isOver === true;
  const left =
    "; not all that it stopped could be started again (the log says why): it is tried again";
  return `job ${service} has run${isLeft ? left : ""}`;
}

/** Whether a job is to begin in a stack that a person stopped; what runs already is ended. */
function isOfStopped({ ledger }: Pick<PipelineParts, "ledger">, work: RunJob): boolean {
  return work.adopts === undefined && ledger.stops.get(work.key) !== undefined;
}

/**
 * Returns the job's specification if it stops no services of another source's stack, which it could
 * keep down as long as it likes; called again after each wait. Throws `conflict`. Judges all in one
 * turn: another source may deploy the first project while the last one is looked at.
 *
 * An adopted run goes on in any case: nobody else would start the services that it has stopped.
 * Other sources' services that its labels name by now are left out: their stacks are not locked.
 */
async function withOwnStops(
  parts: Pick<PipelineParts, "host" | "hosts" | "ledger" | "clock">,
  { key, adopts }: Pick<RunJob, "key" | "adopts">,
  spec: JobSpec,
  signal: AbortSignal,
): Promise<JobSpec> {
  const seen = new Map<string, OthersSay>();
  for (const name of new Set(spec.stopServices.map(({ project }) => project))) {
    if (name === key.name) continue;
    const other = { ...key, name };
    const observed = await observeAnyway(parts, other, signal);
    const isThere = observed.containers.length > 0;
    const beside = await ownersElsewhere(parts, { key: other, isThere }, signal);
    const elsewhere = beside.map(({ owner }) => owner);
    seen.set(name, { ...saidBy(parts.ledger, other, observed), elsewhere });
  }
  const whose = (project: string) => whoseStop(parts.ledger, key, project, seen.get(project));
  const stopServices = spec.stopServices.filter(({ project }) => whose(project) === undefined);
  const foreign = spec.stopServices.find(({ project }) => whose(project) !== undefined);
  if (foreign === undefined || adopts !== undefined) return { ...spec, stopServices };
  const { project, service } = foreign;
  const owner = whose(project);
  throw errors.conflict(
    `the job was not run: it stops ${project}/${service}, and ${project} runs from ${owner}; a job stops ` +
      "what is deployed from its own source, by its own context: take that out of stop_services, or deploy " +
      "both from one repository by one context",
  );
}

interface JobToRun {
  readonly work: RunJob;
  readonly found: FoundJob;
  readonly spec: JobSpec;
  /** In whose name it runs. */
  readonly by: StackOwner | undefined;
  readonly progress: Progress;
  /** The ledger's mark of its stack before it was looked up. */
  readonly since: string;
}

type AnyRun = Pick<JobRun<unknown>, "begin" | "adopt" | "end" | "output" | "isLeft">;

/** Makes the run of a job without starting it. */
function createRun(
  parts: PipelineParts,
  jobs: JobParts,
  { work, found, spec, by: owner, progress }: JobToRun,
  signal: AbortSignal,
): AnyRun {
  const { key } = work;
  const ready = async (within: AbortSignal) => {
    // An existing container needs neither image nor files again, and tasks get theirs by the swarm.
    const isMade = found.swarm === undefined && spec.mode === "one_off";
    const files = isMade ? await readyJob(parts, work, progress, within) : [];
    // Nothing is stopped that could not be started again.
    for (const name of new Set([key.name, ...spec.stopServices.map(({ project }) => project)])) {
      await requireStartable(parts, { ...key, name }, { needsFiles: true }, within);
    }
    await requireServiceFree(parts, key, found.service, within);
    return await withOwnStops(parts, work, spec, within).then(() => files);
  };
  const { clock, log } = parts;
  const notes = parts.ledger.stoppedByJobs.of(key, found.service);
  const checks = { ready, notes, ...endingBy(parts, key, owner) };
  const who = recordedOwner(parts.ledger, key)?.source ?? key.name;
  const making: InTurn = (make, within) => jobs.making.run(who, make, within);
  const facts = { ...jobs, making, clock, log, found, spec, progress, owner, ...checks };
  if (found.swarm === undefined) return new JobRun(facts, containerJobs(facts));
  const { swarm } = jobs.engine;
  const auth = (image: string) => jobCredentials(parts, work, image, signal);
  return new JobRun(facts, swarmJobs({ ...facts, swarm, service: found.swarm, auth }));
}

/**
 * Begins or adopts a run, and returns its container's exit code; `stopped` where a person stopped the stack
 * while this waited, and `moved` where it was changed, and may have another container for the job, or another
 * definition. Ends as {@link whileOwned} does.
 */
async function runThrough(
  parts: PipelineParts,
  run: AnyRun,
  { work, spec, by, progress, since }: Omit<JobToRun, "found">,
  signal: AbortSignal,
): Promise<number | undefined | "stopped" | "moved"> {
  const locks = locksOfJob(parts.ledger, work.key, spec.stopServices);
  const through = async (within: AbortSignal, ask: () => void) => {
    const begin = async () => {
      ask();
      // One that an earlier process began is taken over in any case, to be ended.
      if (work.adopts !== undefined) return await run.adopt(work.adopts, signal);
      within.throwIfAborted();
      if (isOfStopped(parts, work)) return "stopped";
      if (!parts.ledger.isStill(work.key, since)) return "moved";
      await withOwnStops(parts, work, spec, within);
      progress("starting");
      await run.begin(within);
    };
    const end = async (begun: "stopped" | "moved" | void) => begun ?? await run.end(within);
    // Given up, it would leave what it stopped down.
    const wait = work.adopts === undefined ? outwaitProcess : waitForProcess;
    // A job that stops services holds their stacks' locks to its end: nobody may start them. Any
    // other holds its own only while it begins, since deployments look for its container.
    if (spec.stopServices.length > 0) {
      return await locked(parts, locks, async () => await end(await begin()), signal, wait);
    }
    return await end(await locked(parts, locks, begin, signal, wait));
  };
  return await whileOwned(parts, { keys: [work.key, ...locks], owners: [by] }, through, signal);
}

/**
 * Finds a job, which `named` is told, and what its run stops. Throws `not_found`, and `conflict` where it may
 * not stop that, or what runs is not its owner's.
 */
async function lookUpJob(
  parts: PipelineParts,
  work: RunJob,
  named: (found: FoundJob) => void,
  signal: AbortSignal,
) {
  // One that an earlier process began is taken over in any case, to be ended.
  const why = work.adopts === undefined ? whyLeft(parts.ledger, work.key) : undefined;
  if (why !== undefined) throw errors.conflict(`the job was not run: ${why}`);
  const { spec: written, found, by } = await findJob(parts, work, signal);
  named(found);
  const spec = await withOwnStops(parts, work, written, signal);
  await requireNotStopped(parts.host, spec.stopServices, signal);
  return { found, spec, by };
}

async function findJob(
  { host: { engine, info }, ledger }: PipelineParts,
  { key, service, adopts }: RunJob,
  signal: AbortSignal,
): Promise<Pick<JobToRun, "found" | "spec" | "by">> {
  const isManager = (await info(signal)).swarm === "manager";
  // This job only: hundreds may be due at once, and the ledger is asked about each job found.
  const own = { project: key.name, service };
  const where = { context: key.context, isManager, of: key.name === "" ? undefined : own };
  const all = await findJobs(engine, where, signal);
  const its = all.filter((each) => each.key.name === key.name && each.service === service);
  const [called] = await calledJobs(ledger, its);
  const noted = ledger.stoppedByJobs.of(key, service).get();
  const found = noted?.id === adopts ? jobOfRun(called, noted) : called;
  const spec = found && readJobLabels(found.container.labels, own);
  if (spec && (found.scale > 0 || adopts !== undefined)) {
    // Of one that is taken over: what runs by now may be another owner's.
    const began = found.executions.find(({ id }) => id === adopts);
    const by = (began && ownerOfRun(began.labels)) ?? ownerOfWhatRuns(ledger, key);
    return { found: withoutLabels(found), spec, by };
  }
  throw errors.not_found(`${key.name} has no job ${service} any more`);
}
