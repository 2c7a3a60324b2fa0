import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  fewOf,
  type ObservedStack,
  own,
  type Release,
  type ReleaseService,
} from "../model/mod.ts";
import { withoutJobs } from "../compose/mod.ts";
import {
  mendNames,
  removeServices,
  signalServices,
  stopServices,
  unpauseServices,
} from "./compose/act_on_services.ts";
import { type ApplyStep, applySteps } from "./apply_steps.ts";
import { awaitConditions } from "./await_conditions.ts";
import { type ChangedNetwork, changedNetworks } from "./changed_networks.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import { changedNames, keptDependents, type KeptServices } from "./kept_services.ts";
import { replaceLost } from "./lost_networks.ts";
import { remadeBy, removeNetworks, withNewNetworks } from "./new_networks.ts";
import type { Rollout, RolloutParts } from "./rollout_words.ts";
import { imagesFetched, imagesToPoint, pointTags } from "./point_tags.ts";
import { readiness, withAutostart } from "./readiness.ts";
import type { ComposeStarts, FailedUpdate } from "./backend.ts";
import { findUpdates, type FoundUpdate } from "./update/update_orders.ts";
import { tryNetworks } from "./try_networks.ts";
import { waitHealthy } from "./wait_healthy.ts";
import { watchPeriod } from "./update/update_config.ts";

/** Callbacks and settings while a plan is applied. */
interface Watch {
  /** Whether unchanged services that depend on changed ones must stay healthy. */
  readonly watchesKept: boolean;
  /** Told before each step which running containers it may stop. */
  readonly onStop: (ids: readonly string[]) => void;
  readonly onFailed?: (failure: FailedUpdate) => void;
}

/**
 * Switches the files, changes the containers, waits until they are healthy, and removes containers
 * that are no longer wanted. May be called again after an interruption, with a new plan. Returns
 * the last observation, or nothing when containers were changed after it.
 *
 * Throws `deploy_failed`, `unhealthy`, `timeout`, `data_dir_unusable`, and what the engine throws.
 */
export async function applyRelease(
  parts: RolloutParts,
  asked: Rollout,
  { watchesKept, onStop, onFailed }: Watch,
  signal: AbortSignal,
): Promise<ObservedStack | undefined> {
  const { next: { release, tree }, way = "forward" } = asked;
  await parts.slot.takeAgain(signal);
  const deadline = parts.clock.uptime() + asked.timeoutSeconds * 1000;
  const observed = await clearHalfReplaced(parts.engine, release.key, signal);
  const from = { desired: release.services, observed };
  const networks = await networksToRemake(parts, asked, signal);
  const complete = await replaceLost(parts.engine, asked.services, from, signal);
  const services = withNewNetworks(complete, networks, { release, observed });
  const ranBefore = withoutJobs(asked.ranBefore, release.model);
  const work = { ...asked, services, ranBefore };
  const previousModel = () => asked.previous?.release.model;
  const question = { release, services, observed, previousModel, way, remade: networks };
  const updates = await findUpdates(parts.engine, question, signal);
  const watchMs = (service: string) => watchPeriod(release.model, service, parts.watchMs, way);
  const stepParts: StepParts = { ...parts, updates, onFailed, watchMsOf: watchMs };
  const steps = stepsOf(work, observed, new Set(updates.keys()));
  await parts.files.switchTo(tree, release, work.liveNow);
  const changed = new Set([...changedNames(work.services), ...work.verify ?? []]);
  const kept = watchesKept
    ? keptDependents(changed, release.services, observed)
    : new Map<string, string>();
  const stops = (step: ApplyStep) => onStop(mayStop(step, observed));
  const remake = remaking(parts, { ...work, networks, onStop }, steps.before);
  await remake(signal);
  for (const step of steps.before) {
    stops(step);
    // Stopping old containers may take long: other deployments may use the slot meanwhile.
    const onEnding = step === steps.before.at(-1) ? () => parts.slot.leave() : undefined;
    const isFirst = step === steps.before[0] && networks.length === 0;
    const more = { onEnding, remake, untouched: isFirst ? observed : undefined };
    await carryOut({ ...stepParts, ...more }, work, step, deadline, signal);
  }
  const seen = await waitHealthy({
    engine: parts.engine,
    clock: parts.clock,
    key: release.key,
    services: awaited(work, observed, kept),
    kept,
    deadline,
    known: new Set(
      observed.containers.filter((each) => each.state !== "exited" && each.state !== "created")
        .map((each) => each.id),
    ),
    watchMs,
    onWatching: () => parts.slot.leave(),
    progress: parts.progress,
  }, signal);
  if (steps.after.length > 0) await parts.slot.takeAgain(signal);
  for (const step of steps.after) {
    stops(step);
    await carryOut(stepParts, work, step, deadline, signal);
  }
  return steps.after.length > 0 ? undefined : seen;
}

function stepsOf(work: Rollout, { containers }: ObservedStack, rolled: ReadonlySet<string>) {
  const { services, next: { release }, previous, ranBefore } = work;
  return applySteps({
    services,
    desired: release.services,
    model: release.model,
    previousModel: previous?.release.model,
    running: new Set(ranBefore),
    containers,
    rolled,
  });
}

/**
 * Networks to make anew, which the engine accepts: what ran before was accepted, and has to come back.
 * None without an earlier release to restore, since containers are stopped.
 */
async function networksToRemake(
  { engine, clock }: RolloutParts,
  { next: { release }, previous, way = "forward" }: Rollout,
  signal: AbortSignal,
): Promise<ChangedNetwork[]> {
  if (previous === undefined) return [];
  const existing = await engine.listNetworks(
    { [COMPOSE_LABELS.project]: release.key.name },
    signal,
  );
  const changed = changedNetworks(release.model, existing, () => previous.release.model);
  if (way === "forward") await tryNetworks({ engine, clock }, changed, release.model, signal);
  return changed;
}

/** Frees the names of the networks that a step makes anew; without one, of those that none makes. */
function remaking(
  { engine, progress }: RolloutParts,
  { next: { release }, services, networks, onStop }: Rollout & Pick<Watch, "onStop"> & {
    readonly networks: readonly ChangedNetwork[];
  },
  steps: readonly ApplyStep[],
) {
  const remade = remadeBy(networks, steps, release.model);
  return async (signal: AbortSignal, step?: ApplyStep): Promise<void> => {
    const gone = remade.get(step) ?? [];
    if (gone.length > 0) progress(`making ${fewOf(gone.map((each) => each.name))} anew`);
    await removeNetworks(engine, gone, { release, services, onStop }, signal);
  };
}

/** Ids of running containers that a step may stop. */
function mayStop(step: ApplyStep, { containers }: ObservedStack): string[] {
  if (step.kind === "wait" || step.kind === "signal") return [];
  const services = step.kind === "up" ? Object.keys(step.scale) : step.services;
  return containers.filter((each) => each.state === "running" && services.includes(each.service))
    .map((each) => each.id);
}

/**
 * Services that must become healthy. After a mere change of files in place only those that were
 * healthy before: the new files may be the repair, which can take longer than a deployment waits.
 */
function toVerify({ next: { release }, services }: Rollout, before: ObservedStack): string[] {
  const changed = services.filter((each) => each.action !== "keep").filter((each) => {
    if (each.action !== "reload") return true;
    const service = release.services.find(({ name }) => name === each.name);
    return service !== undefined && readiness([service], before).kind === "ready";
  });
  return changed.map((each) => each.name);
}

/**
 * Services that must prove healthy: those that the plan changes, those to verify, and kept
 * dependents. A service that deployments do not start counts only when it ran before.
 */
function awaited(work: Rollout, before: ObservedStack, kept: KeptServices): ReleaseService[] {
  const { next: { release }, verify = [], ranBefore } = work;
  const changed = new Set([...toVerify(work, before), ...verify, ...kept.keys()]);
  return release.services.filter((each) => changed.has(each.name)).map((each) =>
    ranBefore.includes(each.name) ? withAutostart(each, true) : each
  );
}

interface StepParts extends RolloutParts {
  readonly updates: ReadonlyMap<string, FoundUpdate>;
  readonly onFailed: Watch["onFailed"];
  /** Called when a step that replaces by update rules has only old containers left to stop. */
  readonly onEnding?: (() => void) | undefined;
  readonly watchMsOf: (service: string) => number;
  /** What was observed, for a step before which nothing was changed. */
  readonly untouched?: ObservedStack | undefined;
  /** Frees the names of the networks that a step makes anew; none by default. */
  readonly remake?: (signal: AbortSignal, step: ApplyStep) => Promise<void>;
}

async function carryOut(
  parts: StepParts,
  { next: onDisk, images = {} }: Pick<Rollout, "next" | "images">,
  step: ApplyStep,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const { engine, clock, progress } = parts;
  const { release } = onDisk;
  progress(stepText(step));
  switch (step.kind) {
    case "remove":
      return await removeServices(engine, release, step.services, signal);
    case "stop":
      return await stopServices(engine, release, step.services, signal);
    case "signal":
      return await signalServices(engine, release, step.signals, signal);
    case "wait": {
      const { conditions } = step;
      const { key } = release;
      return await awaitConditions({ engine, clock, key, conditions, deadline, progress }, signal);
    }
    case "up": {
      const services = Object.keys(step.scale);
      const refused = await mendNames(engine, release, services, signal);
      const isComplete = step.mode === "complete";
      if (isComplete) await unpauseServices(engine, release, services, signal);
      const made = release.services.filter(({ name }) => services.includes(name));
      const built = await imagesToMake(engine, { ...release, services: made }, images, signal);
      const timeoutMs = Math.max(1000, deadline - clock.uptime());
      const { key } = release;
      const call = parts.call(onDisk);
      const rules = step.mode !== "roll" ? {} : {
        updates: parts.updates,
        watchMs: parts.watchMsOf,
        ...(parts.onFailed === undefined ? {} : { failed: parts.onFailed }),
        ...(parts.onEnding === undefined ? {} : { onEnding: parts.onEnding }),
      };
      const requireAllowed = (within: AbortSignal, starts?: ComposeStarts) =>
        parts.requireAllowed(onDisk, within, starts);
      const seen = step.mode === "complete" ? undefined : parts.untouched;
      const looked = { ...(seen && { observed: seen }), built, requireAllowed };
      const how = { key, call, ...looked, timeoutMs, progress };
      const changes = { ...step, ...rules, ...how };
      await parts.remake?.(signal, step);
      await parts.backend.up(changes, signal);
      // Told once the containers are started: that they run is worth more. Others have been replaced.
      if (isComplete && refused !== undefined) throw refused;
    }
  }
}

/**
 * The ids that containers of services are made of, and what these mount and their hooks run: another stack may
 * have built a different image under the same name since. Names of what is built get these ids back, and so do
 * others that lead nowhere. An image that nobody built for the release and that is gone is left to its name.
 */
async function imagesToMake(
  engine: Engine,
  release: Pick<Release, "model" | "services">,
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const known: Record<string, string> = { ...images };
  for (const { name } of imagesFetched(release)) {
    const id = own(images, name);
    if (id !== undefined && await engine.imageId(id, signal) === undefined) delete known[name];
  }
  const pointed = await imagesToPoint(engine, release, images, signal);
  await pointTags(engine, release.services, pointed, signal);
  return known;
}

function stepText(step: ApplyStep): string {
  if (step.kind === "remove") return `removing ${fewOf(step.services)}`;
  if (step.kind === "stop") return `stopping ${fewOf(step.services)}`;
  if (step.kind === "wait") {
    const names = new Set(step.conditions.map((each) => each.dependency));
    return `waiting for ${fewOf([...names])}`;
  }
  if (step.kind === "signal") return `signalling ${fewOf(Object.keys(step.signals))}`;
  const names = fewOf(Object.keys(step.scale));
  if (step.mode !== "complete") return `replacing ${names}`;
  return step.noStart ? `creating ${names}` : `starting ${names}`;
}
