import { awaitedJobs, runningJobs } from "../deploy/mod.ts";
import {
  errors,
  formatStackKey,
  isStackwrightError,
  ofSource,
  type Progress,
  type SourceRequest,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { requestLocation } from "./resolve_revision.ts";
import { type Host, lendingImages, type Target } from "../prepare/mod.ts";
import { lendingSource } from "../source/mod.ts";
import {
  type Lend,
  preparingInSlot,
  sourceAsOwner,
  sourceOf,
  stackAsOwner,
  within,
} from "../system/mod.ts";

/** Milliseconds between two looks at whether jobs run. */
const INTERVAL_MS = 1000;

/**
 * Waits until no job of a stack runs, within the deployment's timeout and before anything is
 * changed. A job's own label decides whether it is waited for, `wait_running_jobs` only by default.
 *
 * Throws `timeout`, naming the containers.
 */
export async function waitForJobs(
  { host: { engine }, clock, ledger, log }: Pick<PipelineParts, "clock" | "ledger" | "log"> & {
    readonly host: Pick<Host, "engine">;
  },
  { key, deployment, swarm }: Pick<Target, "key" | "deployment" | "swarm">,
  signal: AbortSignal,
): Promise<void> {
  const { waitRunningJobs, timeoutSeconds } = deployment;
  const which = { byDefault: waitRunningJobs, isStack: swarm !== undefined };
  for (let waited = 0;; waited++) {
    const jobs = await awaitedJobs(ledger, key, await runningJobs(engine, key, which, signal));
    if (jobs.length === 0) return;
    const names = jobs.map((each) => each.name).sort().join(", ");
    if (waited >= timeoutSeconds) throw stillRunning(key, names, timeoutSeconds);
    if (waited === 0) {
      log.info(`waiting for running jobs: ${names}`, { stack: key.name, context: key.context });
    }
    await clock.sleep(INTERVAL_MS, signal);
  }
}

function stillRunning({ name }: StackKey, jobs: string, seconds: number): StackwrightError {
  return errors.timeout(
    `timed out waiting ${seconds} seconds for running jobs of ${name} (${jobs}); ` +
      `nothing was changed. wait_running_jobs: false deploys without waiting`,
  );
}

/** Milliseconds between two looks at whether another process is done with a stack. */
const LOOK_MS = 250;

/**
 * Waits until no other process is changing a stack, and until the secrets of what it recorded are hidden.
 * Rejects with the signal's reason.
 */
export async function waitForStack(
  parts: Pick<PipelineParts, "ledger" | "clock" | "secrets">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  await waitForProcess(parts, key, progress, signal);
  await parts.secrets.learned(stackAsOwner(key), signal);
}

/** Milliseconds that a person's request waits for secrets to be known. */
const PERSON_WAITS_MS = 10_000;

/**
 * Waits a short time for the secrets of a stack, for a person who asked for something. Where they are not
 * known then, the request goes on: what is told of it is `***`. Rejects with the signal's reason.
 */
export async function learnedSoon(
  { secrets, clock, log }: Pick<PipelineParts, "secrets" | "clock" | "log">,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const learned = secrets.learned(stackAsOwner(key), signal);
  if (await within(learned, PERSON_WAITS_MS, clock, signal)) return;
  log.warning(
    `not all secrets of ${key.name} (context ${key.context}) are read yet: what a person asks of it ` +
      "goes on, and what is told and recorded of that is shown as ***",
  );
}

/**
 * Waits until no other process is changing a stack: a command beside the service, or the other way
 * round. The wait ends: another process has a time limit of its own, and a dead one holds nothing.
 * Rejects with the signal's reason.
 */
export async function waitForProcess(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  for (let holder = ledger.heldElsewhere(key); holder !== undefined;) {
    const [pid] = holder.split(":");
    progress(`waiting for process ${pid}, which is changing ${key.name}`);
    await clock.sleep(LOOK_MS, signal);
    holder = ledger.heldElsewhere(key);
  }
}

/**
 * Takes locks in the order of their names, so that no two jobs wait for each other, and waits for the
 * secrets of all at once.
 */
export async function locked<T>(
  parts: PipelineParts,
  keys: readonly StackKey[],
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const take = async ([first, ...rest]: readonly StackKey[]): Promise<T> => {
    if (first === undefined) {
      await learnedOfAll(parts, keys, signal);
      return await work();
    }
    return await parts.stackLock.run(formatStackKey(first), async () => {
      await waitForProcess(parts, first, () => {}, signal);
      return await take(rest);
    }, signal);
  };
  return await take(keys);
}

/** Waits for the secrets of stacks side by side: each may take minutes. */
export async function learnedOfAll(
  { secrets }: Pick<PipelineParts, "secrets">,
  keys: readonly StackKey[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(keys.map((key) => secrets.learned(stackAsOwner(key), signal)));
}

/**
 * Runs work that only reads and prepares when a slot for that is free. Its `parts` give the slot
 * back during long waits for source, images and secrets: their authors decide how long URLs,
 * references and Dockerfiles take.
 */
export async function preparing<T>(
  parts: PipelineParts,
  holder: Parameters<typeof preparingInSlot>[1],
  work: (parts: PipelineParts) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { source, host } = parts;
  const who = sourceAsOwner(sourceOf(holder));
  const lending = (lend: Lend) => {
    const images = lendingImages(host.images, lend);
    return work({
      ...parts,
      lend,
      turns: parts.turns.by(who),
      source: lendingSource(source, lend),
      host: { ...host, images, compose: host.compose.lending(lend, who) },
    });
  };
  return await preparingInSlot(parts, holder, lending, signal);
}

/**
 * Throws what the work on sources of a run threw. A run of several has no single source that its texts are
 * about, so each error names its own; a bad URL names none.
 */
export function throwFailures(
  requests: readonly SourceRequest[],
  results: readonly PromiseSettledResult<unknown>[],
): void {
  const failures = results.flatMap((each, at) => {
    const request = requests[at];
    if (each.status === "fulfilled" || request === undefined) return [];
    const isOne = requests.length === 1 || isStackwrightError(each.reason, "bad_request");
    return [isOne ? each.reason : ofSource(each.reason, requestLocation(request).name)];
  });
  if (failures.length === 0) return;
  throw requests.length === 1 ? failures[0] : new AggregateError(failures);
}
