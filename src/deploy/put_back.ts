import type { Engine } from "../docker/engine.ts";
import {
  isOurs,
  type ObservedStack,
  type ReleaseService,
  type ServicePlan,
  withFollowers,
} from "../model/mod.ts";
import { applyRelease } from "./apply_release.ts";
import { isDown, keepDown } from "./left_orphans.ts";
import { observe } from "./observe.ts";
import { imagesPresent, imagesToPoint, pointTags } from "./point_tags.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import { withAutostart } from "./readiness.ts";
import {
  type ReleaseOnDisk,
  type Rollout,
  type RolloutParts,
  saidOfBack,
} from "./rollout_words.ts";
import type { Clock } from "../system/mod.ts";
import { SAMPLE_INTERVAL_MS } from "./looks.ts";

interface Restoration extends Rollout {
  readonly previous: ReleaseOnDisk;
  /** Ids of containers that the failed rollout may have told the engine to stop. */
  readonly endangered: Set<string>;
  /** Number of times that this was begun again because a container ended late; none when absent. */
  readonly late?: number;
}

/** Containers that end one after the other, each of which is waited for; an engine may go on. */
const MOST_LATE = 100;

/** Puts the previous release back after a failed one; tells what was restored. May be called again. */
export async function restore(
  parts: RolloutParts,
  work: Restoration,
  signal: AbortSignal,
): Promise<string> {
  const { next, endangered, late = 0 } = work;
  const previous = asItRan(work.previous, work);
  await parts.slot.takeAgain(signal);
  const { release } = previous;
  const pointed = await imagesToPoint(parts.engine, release, work.previousImages, signal);
  await pointTags(parts.engine, release.services, pointed, signal);
  const observed = await lookBack(parts.engine, work, signal);
  const planned = parts.replan(previous.release, observed, next.release);
  const services = startAgain(planned, work.ranBefore, {
    desired: previous.release.services,
    observed,
  });
  await stopKeptOrphans(parts.engine, work, { observed, planned }, signal);
  await parts.fetchImages(previous, services, signal);
  const back: Rollout = {
    ...work,
    next: previous,
    images: await imagesPresent(
      parts.engine,
      previous.release.services,
      work.previousImages,
      signal,
    ),
    // A too short timeout may be the cause of the failure, and must not fail the rollback again.
    timeoutSeconds: Math.max(previous.release.timeoutSeconds, work.timeoutSeconds),
    previous: next,
    way: "back",
    services,
    verify: [],
    liveNow: next.release.live,
  };
  const onStop = (ids: readonly string[]) => ids.forEach((id) => endangered.add(id));
  // Kept services that the failed release broke are still broken at this moment.
  await applyRelease(parts, back, { onStop, watchesKept: false }, signal);
  // A container that still runs may be stopping already, at the request of an interrupted step.
  const kept = services.filter((each) => each.action === "keep").map((each) => each.name);
  const doubtful = observed.containers.filter((each) =>
    each.state === "running" && endangered.has(each.id) && kept.includes(each.service)
  ).map((each) => each.id);
  if (doubtful.length > 0) parts.progress("making sure that nothing is being stopped");
  if (late < MOST_LATE && await stopsLate(parts, doubtful, signal)) {
    return await restore(parts, { ...work, late: late + 1 }, signal);
  }
  const said = saidOfBack(services, work.services, "no container had changed");
  return work.wasStopped === true ? `${said}; stopped, as it was` : said;
}

/** The release to put back: of a stack that a person had stopped, without a start of what did not run. */
function asItRan(previous: ReleaseOnDisk, { wasStopped, ranBefore }: Rollout): ReleaseOnDisk {
  if (wasStopped !== true) return previous;
  const services = previous.release.services.map((each) =>
    ranBefore.includes(each.name) ? each : withAutostart(each, false)
  );
  return { ...previous, release: { ...previous.release, services } };
}

/** What there is to go back from, once what the failed release started in a stopped stack is down again. */
async function lookBack(
  engine: Engine,
  { next: { release: { key } }, wasStopped, ranBefore }: Restoration,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const observed = await clearHalfReplaced(engine, key, signal);
  const started = observed.containers.filter((each) =>
    wasStopped === true && each.state !== "created" && each.state !== "exited" && isOurs(each) &&
    !ranBefore.includes(each.service)
  );
  for (const { id } of started) await engine.stopContainer(id, undefined, signal);
  return started.length === 0 ? observed : await observe(engine, { key }, signal);
}

/**
 * Stops containers of services that only the failed release has and that are not removed, since they were
 * orphans before it, where none of theirs ran: they stay as they were, until a release has them again.
 */
async function stopKeptOrphans(
  engine: Engine,
  { next, previous, ranBefore }: Restoration,
  { observed, planned }: {
    readonly observed: ObservedStack;
    readonly planned: readonly ServicePlan[];
  },
  signal: AbortSignal,
): Promise<void> {
  const others = new Set([...previous.release.services, ...planned].map(({ name }) => name));
  const names = new Set([...others, ...ranBefore]);
  const kept = next.release.services.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  const running = observed.containers.filter((each) =>
    isOurs(each) && kept.includes(each.service) && !isDown(each)
  );
  for (const { id } of running) {
    await keepDown(engine, id, {}, signal);
    await engine.stopContainer(id, undefined, signal);
  }
}

/**
 * Turns `keep` into `start` for services that ran before and are stopped: after an interrupted
 * replacement their digest is right, and their restart policy may permit being stopped.
 */
export function startAgain(
  planned: readonly ServicePlan[],
  ranBefore: readonly string[],
  { desired, observed }: {
    readonly desired: readonly ReleaseService[];
    readonly observed: ObservedStack;
  },
): ServicePlan[] {
  const stopped = stoppedServices(observed);
  const started = planned.map((each): ServicePlan =>
    each.action === "keep" && stopped.has(each.name) && ranBefore.includes(each.name)
      ? { name: each.name, action: "start", because: ["it ran before, and was stopped on the way"] }
      : each
  );
  return withFollowers(started, desired, observed);
}

function stoppedServices({ containers }: ObservedStack): ReadonlySet<string> {
  const running = new Set(
    containers.filter((each) => each.state === "running").map((each) => each.service),
  );
  return new Set(containers.map((each) => each.service).filter((name) => !running.has(name)));
}

/** Seconds the engine may take beyond a container's own grace period. */
const MARGIN_SECONDS = 2;

/**
 * True as soon as one of the running containers ends, because the engine was told to stop it
 * before. A stop goes on after its caller is gone, the engine does not show it, and a stopped
 * container is not restarted: only waiting for its grace period tells.
 */
async function stopsLate(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  let left = 0;
  for (let waited = 0; ids.length > 0; waited += SAMPLE_INTERVAL_MS) {
    for (const id of ids) {
      const details = await engine.inspectContainer(id, signal);
      if (details === undefined || details.container.state !== "running") return true;
      left = Math.max(left, details.stopTimeoutSeconds);
    }
    if (waited >= (left + MARGIN_SECONDS) * 1000) return false;
    await clock.sleep(SAMPLE_INTERVAL_MS, signal);
  }
  return false;
}
