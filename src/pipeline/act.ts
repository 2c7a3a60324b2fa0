import { awaitedJobs, isDown, isFormerRun, runningJobs } from "../deploy/mod.ts";
import {
  type Deployment,
  errors,
  fewOf,
  NO_DRIFT,
  type ObservedContainer,
  ownerFrom,
  type Revision,
  type StackKey,
  type StackwrightError,
  type TargetEnd,
  WAITS_FOR_JOBS,
} from "../model/mod.ts";
import { carryOut } from "./carry_out.ts";
import { leftByAdoption } from "../plan/mod.ts";
import { type Decision, endOf, leave, waiting } from "./decision.ts";
import type { HeldDecision } from "./hold.ts";
import { remembering } from "./decide/remembering.ts";
import { type RemovalWish, removalWish } from "./destroy/failed_removal.ts";
import type { LeaveData } from "./destroy/data_of_targets.ts";
import { overtakenBy } from "./destroy/is_newer.ts";
import { removeStack } from "./destroy/remove_stack.ts";
import { isSameMode } from "./stack_mode.ts";
import { swarmNow } from "./decide/swarm_now.ts";
import { allInTurns, type Slot } from "../system/mod.ts";
import type { PipelineParts } from "./parts.ts";
import type { Host, Target } from "../prepare/mod.ts";
import { isOfOthers, recordedOwner, whoseStop } from "../record/mod.ts";
import type { Teller } from "../tell/mod.ts";

/** A decision to carry out, and what carrying it out depends on. */
export interface ToDo {
  readonly decision: Exclude<Decision, { kind: "skip" }>;
  /** The ledger's mark of the stack at the time of the decision. */
  readonly since: string;
  /** The slot among those for changing containers. */
  readonly slot: Slot;
  readonly onLeft: LeaveData;
  readonly teller: Teller;
}

type Doing = Pick<ToDo, "since" | "slot">;

/**
 * The part after the commit point: containers change here and nowhere else. Returns the end, or
 * `undefined`, with nothing changed, when another process changed the stack after the decision.
 */
export async function act(
  parts: PipelineParts,
  target: Target,
  { decision, since, slot, onLeft, teller }: ToDo,
  signal: AbortSignal,
): Promise<TargetEnd | "data_left" | undefined> {
  switch (decision.kind) {
    case "deploy":
      return await deploy(parts, target, { decision, since, slot }, signal);
    case "repair":
      return await repair(parts, target, { decision, since, slot }, signal);
    case "destroy":
      return await destroy(parts, target, { decision, since, onLeft, teller }, signal);
  }
}

async function deploy(
  parts: PipelineParts,
  target: Target,
  { decision, since, slot }: Doing & { readonly decision: Decision & { readonly kind: "deploy" } },
  signal: AbortSignal,
): Promise<TargetEnd | undefined> {
  const { plan, prepared, observed, images, adopts, isRetry } = decision;
  const { deployment, key } = target;
  // The engine's swarm may have come up, or gone, while this was prepared and waited for the slot.
  const swarm = await swarmNow(parts, target, signal);
  if (!isSameMode({ ...(swarm && { swarm }) }, prepared.release)) return undefined;
  if (adopts) {
    // Left alone until a commit changes the stack, also where drift is repaired.
    const tried = leftByAdoption(prepared.release, observed);
    parts.ledger.reconciliations.noteDrift(key, { ...NO_DRIFT, tried });
  }
  const result = await carryOut(parts, {
    next: prepared,
    services: plan.services,
    observed,
    images,
    removeOrphans: deployment.removeOrphans && !adopts,
    pruneImages: deployment.pruneImages,
    timeoutSeconds: deployment.timeoutSeconds,
    automatic: target.origin === "automatic",
    progress: target.progress,
    note: plan.message,
    since,
    slot,
    isRetry,
    unpins: true,
  }, signal);
  const { services, inactive = [] } = prepared.release;
  const named = new Set([...services.map(({ name }) => name), ...inactive]);
  const keeps = plan.services.some(({ name, action }) => action === "keep" && !named.has(name));
  const adopted = adopts
    ? `; adopted containers that Stackwright had not made${keeps ? ", orphans were kept" : ""}`
    : "";
  return result && endOf(result, `${plan.message}${adopted}`, plan.message);
}

/** Repairs a target. Its end is `skipped`, since what its source wants is still held back. */
async function repair(
  parts: PipelineParts,
  target: Target,
  { decision, ...doing }: Doing & { readonly decision: Decision & { readonly kind: "repair" } },
  signal: AbortSignal,
): Promise<TargetEnd | undefined> {
  const { origin, progress, deployment: { timeoutSeconds } } = target;
  const by = { origin, progress, timeoutSeconds };
  const end = await repairRelease(parts, by, { decision, ...doing }, signal);
  if (end?.status !== "succeeded") return end;
  return { status: "skipped", message: `${decision.hold.message}; ${end.message}` };
}

/** Repairs the deployed release; see {@link act}. */
export async function repairRelease(
  parts: PipelineParts,
  by: Pick<Target, "origin" | "progress"> & { readonly timeoutSeconds: number },
  { decision, since, slot }: Doing & {
    readonly decision: HeldDecision & { readonly kind: "repair" };
  },
  signal: AbortSignal,
): Promise<TargetEnd | undefined> {
  const { plan, onDisk, recorded, observed, remembers } = decision;
  const { services } = plan;
  const what = `release ${recorded.number}: ${plan.message}`;
  const result = await carryOut(parts, {
    next: onDisk,
    again: recorded,
    services,
    observed,
    images: recorded.images,
    removeOrphans: false,
    pruneImages: false,
    timeoutSeconds: by.timeoutSeconds,
    automatic: by.origin === "automatic",
    progress: by.progress,
    note: `repaired ${what}`,
    isCurrent: true,
    remembers,
    since,
    slot,
  }, signal);
  return result && endOf(result, `repaired ${what}`, `repairing ${what}`);
}

async function destroy(
  parts: PipelineParts,
  target: Target,
  { decision: { facts, verdict }, since, onLeft, teller }:
    & Pick<ToDo, "since" | "onLeft" | "teller">
    & { readonly decision: Decision & { readonly kind: "destroy" } },
  signal: AbortSignal,
): Promise<TargetEnd | "data_left" | undefined> {
  target.progress("removing what runs");
  const { key, discovered: found, configuration } = target;
  const removal = { verdict, by: ownerFrom(configuration), found, since, done: "destroyed" };
  const remove = () => removeStack(parts, key, removal, signal);
  const end = await remembering(parts, key, removalWish(target), remove, signal);
  if (end === "data_left") onLeft(target, facts, teller);
  return end === "moved" ? undefined : end;
}

/**
 * Whether a removal is left to another run, as {@link overtakenBy} says of what was `looked` at; tells of that.
 * Asks sources, which takes as long as they make it: what else may forbid the removal is asked after it. Where
 * they do not answer, an attempt of `wish` has failed.
 */
export async function isOvertaken(
  parts: Pick<PipelineParts, "source" | "options" | "ledger" | "clock">,
  teller: Teller,
  { wish, looked }: { readonly wish: RemovalWish; readonly looked: readonly Revision[] },
  signal: AbortSignal,
): Promise<boolean> {
  const ask = () => overtakenBy(parts, looked, signal);
  const newer = await remembering(parts, teller.target.key, wish, ask, signal);
  if (newer !== undefined) leave(teller, waiting(newer));
  return newer !== undefined;
}

/** As {@link isOvertaken}, of a target with `destroy`. */
export function isDestroyOvertaken(
  parts: PipelineParts,
  teller: Teller,
  target: Target,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = { wish: removalWish(target), looked: [target.configuration] };
  return isOvertaken(parts, teller, asked, signal);
}

/** Milliseconds between two looks at whether jobs run. */
const INTERVAL_MS = 1000;

/** A stack whose jobs are waited for, and what its deployment says of that. */
interface JobsStack extends Pick<Target, "key" | "swarm" | "progress"> {
  readonly deployment: Pick<Deployment, "waitRunningJobs" | "timeoutSeconds">;
}

/** What jobs are looked for with. */
type JobParts = Pick<PipelineParts, "ledger"> & { readonly host: Pick<Host, "engine"> };

/**
 * The jobs that run and that a deployment waits for, by name. A job's own label decides that,
 * `wait_running_jobs` only by default. None of a former owner's release, and no runs that it left. Runs of other
 * stacks' jobs that have stopped something of this one, too.
 */
export async function jobsToAwait(
  { host: { engine }, ledger }: JobParts,
  { key, deployment, swarm }: Omit<JobsStack, "progress">,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  if (isOfOthers(ledger, key)) return [];
  const owner = recordedOwner(ledger, key);
  const which = { byDefault: deployment.waitRunningJobs, isStack: swarm !== undefined };
  const running = (await runningJobs(engine, key, which, signal))
    .filter((each) => !isFormerRun(each, owner));
  const stopping = deployment.waitRunningJobs
    ? await jobsThatStop({ host: { engine }, ledger }, key, signal)
    : [];
  const jobs = [...await awaitedJobs(ledger, key, running), ...stopping];
  return jobs.sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * What runs of other stacks' jobs that have stopped something of a stack, by their notes. Nobody who has the stack's
 * lock meets one but where the process that began the run was killed, and nobody has taken it over yet, or in another
 * process: what it stopped would start beside it.
 */
async function jobsThatStop(
  { host: { engine }, ledger }: JobParts,
  { context, name }: StackKey,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const runs = ledger.stoppedByJobs.all(context).filter(({ key, mayRun, isOver, stopServices }) =>
    key.name !== name && mayRun && isOver !== true &&
    stopServices?.some(({ project }) => project === name) === true &&
    whoseStop(ledger, key, name) === undefined
  );
  const found = await allInTurns(runs, ({ id }) => engine.inspectContainer(id, signal));
  return found.flatMap((each) =>
    each === undefined || isDown(each.container) ? [] : [each.container]
  );
}

/**
 * Waits until no job of a stack runs, see {@link jobsToAwait}, within the deployment's timeout and before
 * anything is changed. Throws `timeout`, naming the containers.
 */
export async function waitForJobs(
  parts: JobParts & Pick<PipelineParts, "clock" | "log">,
  target: JobsStack,
  signal: AbortSignal,
): Promise<void> {
  const { key, deployment: { timeoutSeconds } } = target;
  for (let waited = 0;; waited++) {
    const jobs = await jobsToAwait(parts, target, signal);
    if (jobs.length === 0) return;
    const names = fewOf(jobs.map((each) => each.name));
    if (waited >= timeoutSeconds) throw stillRunning(key, names, timeoutSeconds);
    if (waited === 0) {
      const text = `${WAITS_FOR_JOBS}: ${names}`;
      target.progress(text);
      parts.log.info(text, { stack: key.name, context: key.context });
    }
    await parts.clock.sleep(INTERVAL_MS, signal);
  }
}

function stillRunning({ name }: StackKey, jobs: string, seconds: number): StackwrightError {
  return errors.timeout(
    `timed out waiting ${seconds} seconds for running jobs of ${name} (${jobs}); ` +
      "nothing was changed: end them, or try again once they have ended. wait_running_jobs: false " +
      "deploys without waiting",
  );
}
