import type { ContainerDetails, Engine } from "../docker/engine.ts";
import {
  type ObservedContainer,
  type Progress,
  type ReleaseService,
  type StackKey,
  StackwrightError,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { type KeptServices, KeptWatch } from "./kept_services.ts";
import { lastLines } from "./last_lines.ts";
import { type Looks, withLooks } from "./looks.ts";
import { observe } from "./observe.ts";
import { MOST_RESTARTS, RestartWatch } from "./restart_watch.ts";

/** Samples in a row that must be good before a release counts as healthy. */
export const GOOD_SAMPLES = 3;
/**
 * The same once the engine had to restart one of the containers: it calls a container steady that ran
 * for ten seconds.
 */
const STEADY_SAMPLES = 11;
/** A wait: for what, and how long. */
export interface HealthWait {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly key: StackKey;
  readonly services: readonly ReleaseService[];
  /** When to give up. */
  readonly deadline: Date;
  /** Ids of containers that ran before, whose earlier restarts do not count; all without it. */
  readonly known?: ReadonlySet<string>;
  /** Those of the services that nothing was done to, and what they depend on; none without it. */
  readonly kept?: KeptServices;
  /** Told at every sample what is still missing; nobody by default. */
  readonly progress?: Progress;
}

/**
 * Waits until `services` are as they should be. Where each has a health check that says so, or has done
 * its work, that is proven; else they have to stay so for {@link GOOD_SAMPLES} samples in a row,
 * one second apart, each container being the same and never started anew in between.
 * What happens to a container is looked at at once.
 *
 * Throws `unhealthy` as soon as one of them cannot become good any more, with the last lines it
 * wrote, and `timeout` at the deadline, naming what was still missing.
 */
export async function waitHealthy(wait: HealthWait, signal: AbortSignal): Promise<void> {
  if (wait.services.length === 0) return;
  await withLooks(wait, (looks) => untilHealthy(wait, looks, signal), signal);
}

async function untilHealthy(wait: HealthWait, looks: Looks, signal: AbortSignal): Promise<void> {
  const { clock, services, deadline } = wait;
  const restarts = new RestartWatch(wait.known);
  const kept = new KeptWatch(wait.kept ?? new Map());
  let incomplete = 0;
  // A look between two samples may undo what they said, but does not make them more.
  for (let good = 0, needed = GOOD_SAMPLES, counts = true;;) {
    const details = await inspectServices(wait, signal);
    const times = { nowMs: clock.now().getTime(), endMs: deadline.getTime() };
    const { now, counted } = kept.look(services, details, times);
    if (now.kind === "failed") await fail(wait, now, signal);
    const { same, restarted, looping } = restarts.look(counted);
    if (looping !== undefined) await fail(wait, loopText(looping), signal);
    if (restarted) needed = STEADY_SAMPLES;
    const before = good;
    if (now.kind !== "ready") good = 0;
    else good = same && good > 0 ? good + (counts ? 1 : 0) : 1;
    const isProven = now.kind === "ready" && !restarted && needed === GOOD_SAMPLES &&
      provenAtOnce(wait, details);
    if (isProven || good >= needed) return;
    const missing = now.kind === "waiting" ? missingText(now.services) : "";
    // Nobody makes containers any more by now, so none that is missing will come.
    const isIncomplete = now.kind === "waiting" && now.incomplete.length > 0;
    incomplete = isIncomplete ? incomplete + (counts ? 1 : 0) : 0;
    if (incomplete === GOOD_SAMPLES) {
      throw new StackwrightError(
        "unhealthy",
        `${missing}; somebody removed what is missing while the release was rolled out`,
      );
    }
    if (missing !== "" && clock.now() >= deadline) {
      throw new StackwrightError(
        "timeout",
        `not healthy within the deployment's timeout: ${missing}`,
      );
    }
    wait.progress?.(
      missing === "" ? "making sure that it stays healthy" : `waiting for ${missing}`,
    );
    counts = await looks.next({ anew: good === 1 && before !== 1 }) === "interval";
  }
}

/**
 * Whether every container tells by itself that it works, or has ended well. What a health check said of
 * one that ran before says nothing of now, unless a new check was waited for.
 */
function provenAtOnce(
  { services, known, kept }: HealthWait,
  details: readonly ContainerDetails[],
): boolean {
  const isNew = ({ id, service }: ObservedContainer) =>
    known?.has(id) === false || kept?.has(service) === true;
  const wanted = services.filter(({ expectation }) =>
    expectation.autostart && expectation.replicas > 0
  );
  return details.map(({ container }) => container)
    .filter(({ service }) => wanted.some(({ name }) => name === service))
    .every((each) =>
      (each.health === "healthy" && isNew(each)) ||
      (each.state === "exited" && each.exitCode === 0)
    );
}

/** The containers of the services, each as it is when it is asked; one that is gone is left out. */
async function inspectServices(
  { engine, key, services }: HealthWait,
  signal: AbortSignal,
): Promise<ContainerDetails[]> {
  const names = new Set(services.map((each) => each.name));
  const { containers } = await observe(engine, key, signal);
  const details: ContainerDetails[] = [];
  for (const container of containers.filter((each) => names.has(each.service))) {
    const found = await engine.inspectContainer(container.id, signal);
    if (found !== undefined) details.push(found);
  }
  return details;
}

interface Hopeless {
  readonly service: string;
  readonly container: ObservedContainer;
  readonly why: string;
}

async function fail(
  { engine, kept }: HealthWait,
  { service, container, why }: Hopeless,
  signal: AbortSignal,
): Promise<never> {
  const cause = kept?.get(service);
  const hint = cause === undefined
    ? ""
    : `; the release left ${service} alone, but changed ${cause}, which it depends on`;
  const log = await lastLines(engine, container.id, signal);
  const text = `service ${service}: container ${container.name} ${why}${hint}${log}`;
  throw new StackwrightError("unhealthy", text);
}

function loopText({ container }: ContainerDetails): Hopeless {
  const { service, exitCode } = container;
  const code = exitCode === undefined ? "" : ` with exit code ${exitCode}`;
  const why = `keeps restarting${code}: the engine restarted it ${MOST_RESTARTS} times by now`;
  return { service, container, why };
}

function missingText(services: Readonly<Record<string, string>>): string {
  return Object.entries(services).map(([name, why]) => `${name}: ${why}`).join(", ");
}
