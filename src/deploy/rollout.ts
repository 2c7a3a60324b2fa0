import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type LiveManifest,
  type ObservedStack,
  type Progress,
  type Release,
  type ReleaseService,
  type ServicePlan,
  type StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";
import { type ApplyStep, applySteps } from "./apply_steps.ts";
import type { Compose, ComposeCall } from "./compose.ts";
import { removeHalfReplaced } from "./half_replaced.ts";
import { observe } from "./observe.ts";
import type { StackFiles } from "./stack_files.ts";
import { readiness } from "./readiness.ts";
import { waitHealthy } from "./wait_healthy.ts";

/** A release with the directory of its tree. */
export interface Placed {
  readonly release: Release;
  readonly tree: string;
  /** That of its configuration, where something is read from another source. */
  readonly configurationTree?: string;
}

/** What a rollout works with. */
export interface RolloutParts {
  readonly engine: Engine;
  readonly compose: Compose;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: StackFiles;
  readonly progress: Progress;
  /** Decides again, from what runs now, how to get from the release that failed to another. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
  /** What compose is told about a release: project, variables, model. */
  call(placed: Placed): ComposeCall;
}

/** One rollout. */
export interface Rollout {
  readonly next: Placed;
  readonly services: readonly ServicePlan[];
  /** Services that must be healthy although nothing is done to them now. */
  readonly verify?: readonly string[];
  /** What runs now and is put back if `next` fails; absent on a first deployment. */
  readonly previous: Placed | undefined;
  /** Services that ran when the plan was made: they run again, also after a rollback. */
  readonly ranBefore: readonly string[];
  /** What lies under `live/` now. */
  readonly liveNow: LiveManifest;
  /** Images the previous release ran, by service, to point its tags at again. */
  readonly previousImages: Readonly<Record<string, string>>;
  /** Seconds until a release must be healthy. */
  readonly timeoutSeconds: number;
  /** Whether to put the previous release back after a failure. */
  readonly rollback: boolean;
}

/** How a rollout ended. */
export type RolloutResult =
  | { readonly kind: "deployed"; readonly images: Readonly<Record<string, string>> }
  | { readonly kind: "failed"; readonly error: StackwrightError; readonly text: string }
  | { readonly kind: "rolled_back"; readonly error: StackwrightError; readonly text: string };

/**
 * Carries a plan out: switches the files, changes the containers, waits until they are healthy. A
 * failure after that point puts the previous release back as a whole.
 *
 * Rejects only with the signal's reason: then the ledger's open intent leads the next start back here.
 */
export async function rollout(
  parts: RolloutParts,
  work: Rollout,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { key } = work.next.release;
  try {
    await apply(parts, { ...work, placed: work.next, liveBefore: work.liveNow }, signal);
    const after = await observe(parts.engine, key, signal);
    return { kind: "deployed", images: imagesByService(after) };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `deploying ${key.name}`);
    return await putBack(parts, work, error, signal);
  }
}

async function putBack(
  parts: RolloutParts,
  work: Rollout,
  error: StackwrightError,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { previous, next } = work;
  const { key } = next.release;
  if (previous === undefined) {
    const text =
      "there is no earlier release to go back to: its containers were left for inspection";
    return { kind: "failed", error, text };
  }
  if (!work.rollback) {
    return { kind: "failed", error, text: "DEPLOY_ROLLBACK is off: left as it is" };
  }
  parts.log.warning("rolling back", { stack: key.name, context: key.context, error });
  parts.progress("rolling back");
  try {
    await pointTags(parts.engine, previous.release, work.previousImages, signal);
    await removeHalfReplaced(parts.engine, key, signal);
    const observed = await observe(parts.engine, key, signal);
    const planned = parts.replan(previous.release, observed, next.release);
    const services = startAgain(planned, work.ranBefore, observed);
    await apply(parts, {
      ...work,
      placed: previous,
      previous: next,
      services,
      verify: [],
      liveBefore: next.release.live,
    }, signal);
    const restored = services.filter((each) => each.action !== "keep").map((each) => each.name);
    const what = restored.length === 0
      ? "no container had changed"
      : `restored ${restored.join(", ")}`;
    return { kind: "rolled_back", error, text: `the previous release was put back: ${what}` };
  } catch (thrown) {
    signal.throwIfAborted();
    const second = toStackwrightError(thrown, "putting the previous release back");
    return {
      kind: "failed",
      error,
      text: `putting the previous release back failed too: ${second.message}`,
    };
  }
}

/**
 * A service that stopped in the middle of a replacement carries the right digest, and its restart
 * policy may say that it is allowed to be stopped. It ran before, so it runs again.
 */
function startAgain(
  planned: readonly ServicePlan[],
  ranBefore: readonly string[],
  observed: ObservedStack,
): ServicePlan[] {
  const stopped = stoppedServices(observed);
  return planned.map((each) =>
    each.action === "keep" && stopped.has(each.name) && ranBefore.includes(each.name)
      ? { name: each.name, action: "start", because: ["it ran before, and was stopped on the way"] }
      : each
  );
}

/**
 * Services that must be healthy now. One that only got new files in place is judged when it was
 * healthy before: these files may be what repairs it, and that takes longer than a deployment waits.
 */
function toVerify({ placed, services }: Application, before: ObservedStack): string[] {
  const changed = services.filter((each) => each.action !== "keep").filter((each) => {
    if (each.action !== "reload") return true;
    const service = placed.release.services.find(({ name }) => name === each.name);
    return service !== undefined && readiness([service], before).kind === "ready";
  });
  return changed.map((each) => each.name);
}

interface Application {
  readonly placed: Placed;
  readonly previous: Placed | undefined;
  readonly services: readonly ServicePlan[];
  readonly verify?: readonly string[];
  readonly ranBefore: readonly string[];
  readonly liveBefore: LiveManifest;
  readonly timeoutSeconds: number;
}

async function apply(parts: RolloutParts, work: Application, signal: AbortSignal): Promise<void> {
  const { release, tree } = work.placed;
  const deadline = new Date(parts.clock.now().getTime() + work.timeoutSeconds * 1000);
  await removeHalfReplaced(parts.engine, release.key, signal);
  const observed = await observe(parts.engine, release.key, signal);
  const steps = applySteps({
    services: work.services,
    desired: release.services,
    model: release.model,
    previousModel: work.previous?.release.model,
    running: new Set(work.ranBefore),
  });
  await parts.files.switchTo(tree, release, work.liveBefore);
  for (const step of steps.before) await carryOut(parts, work.placed, step, deadline, signal);
  await waitHealthy({
    engine: parts.engine,
    clock: parts.clock,
    key: release.key,
    services: awaited(work, observed),
    deadline,
    progress: parts.progress,
  }, signal);
  for (const step of steps.after) await carryOut(parts, work.placed, step, deadline, signal);
}

/**
 * Services that have to prove healthy: those something was done to. One that is not started by
 * deployments counts only where it ran before, and is then judged like any other.
 */
function awaited(work: Application, before: ObservedStack): ReleaseService[] {
  const { placed, verify = [], ranBefore } = work;
  const changed = new Set([...toVerify(work, before), ...verify]);
  return placed.release.services.filter((each) => changed.has(each.name)).map((each) =>
    ranBefore.includes(each.name) ? started(each) : each
  );
}

function started(service: ReleaseService): ReleaseService {
  return { ...service, expectation: { ...service.expectation, autostart: true } };
}

async function carryOut(
  parts: RolloutParts,
  placed: Placed,
  step: ApplyStep,
  deadline: Date,
  signal: AbortSignal,
): Promise<void> {
  parts.progress(stepText(step));
  if (step.kind === "remove") {
    return await removeServices(parts.engine, placed.release, step.services, signal);
  }
  if (step.kind === "signal") {
    return await signalServices(parts.engine, placed.release, step.signals, signal);
  }
  const leftMs = Math.max(1000, deadline.getTime() - parts.clock.now().getTime());
  await parts.compose.up(parts.call(placed), { ...step, timeoutMs: leftMs }, signal);
}

function stepText(step: ApplyStep): string {
  if (step.kind === "remove") return `removing ${step.services.join(", ")}`;
  if (step.kind === "signal") return `signalling ${Object.keys(step.signals).join(", ")}`;
  const names = Object.keys(step.scale).join(", ");
  if (step.mode === "replace") return `replacing ${names}`;
  return step.noStart ? `creating ${names}` : `starting ${names}`;
}

/** Stops and removes the containers of services; volumes stay. */
async function removeServices(
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const containers = await engine.listContainers({
    [COMPOSE_LABELS.project]: release.key.name,
  }, signal);
  for (const container of containers.filter((each) => services.includes(each.service))) {
    await engine.stopContainer(container.id, undefined, signal);
    await engine.removeContainer(container.id, { force: true, volumes: false }, signal);
  }
}

/** Tells running containers that their files changed. */
async function signalServices(
  engine: Engine,
  release: Release,
  signals: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const project = { [COMPOSE_LABELS.project]: release.key.name };
  for (const container of await engine.listContainers(project, signal)) {
    const name = signals[container.service];
    if (name === undefined || container.state !== "running") continue;
    await engine.killContainer(container.id, name, signal);
  }
}

/**
 * Points the tags that a release's services name at the images it ran: a pull or build may have moved
 * them since. Images that are gone are left to be pulled.
 */
export async function pointTags(
  engine: Engine,
  release: Release,
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  for (const service of release.services) {
    const image = images[service.name];
    const reference = service.image;
    if (image === undefined || reference === "" || reference.includes("@")) continue;
    if (await engine.imageId(reference, signal) === image) continue;
    if (await engine.imageId(image, signal) === undefined) continue;
    await engine.tagImage(image, reference, signal);
  }
}

function stoppedServices(observed: ObservedStack): ReadonlySet<string> {
  const running = new Set(
    observed.containers.filter((each) => each.state === "running").map((each) => each.service),
  );
  return new Set(
    observed.containers.map((each) => each.service).filter((name) => !running.has(name)),
  );
}

/** The image each service runs. */
export function imagesByService(observed: ObservedStack): Record<string, string> {
  return Object.fromEntries(observed.containers.map((each) => [each.service, each.imageId]));
}
