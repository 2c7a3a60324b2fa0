import type { ContainerDetails, Engine } from "../docker/engine.ts";
import {
  errors,
  type ObservedContainer,
  type ObservedStack,
  type Progress,
  type ReleaseService,
  type StackKey,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { type KeptServices, KeptWatch } from "./kept_services.ts";
import { lastLines } from "./last_lines.ts";
import { type Looks, withLooks } from "./looks.ts";
import { observe } from "./observe.ts";
import { ProvenWatch } from "./proven.ts";
import { MOST_RESTARTS, RestartWatch } from "./restart_watch.ts";
import type { Readiness } from "./readiness.ts";

/** Samples in a row for which a container may be missing that somebody else may just be making. */
const MOST_INCOMPLETE = 3;
/** A wait: for what, and how long. */
export interface HealthWait {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly key: StackKey;
  readonly services: readonly ReleaseService[];
  /** Time to give up. */
  readonly deadline: Date;
  /** Ids of containers that ran before, whose earlier restarts do not count; all without it. */
  readonly known?: ReadonlySet<string>;
  /** Those of the services that nothing was done to, and what they depend on; none without it. */
  readonly kept?: KeptServices;
  /** Milliseconds for which a container of a service has to run where no health check speaks for it. */
  readonly watchMs: (service: string) => number;
  /** Told, maybe more than once, that all work and are only watched from now on. */
  readonly onWatching?: () => void;
  /** Ids of the only containers that are looked at; all of the services without it. */
  readonly only?: ReadonlySet<string>;
  /** Told at every sample what is still missing; nobody by default. */
  readonly progress?: Progress;
}

/**
 * Waits until `services` are as they should be. A container whose health check says so, or that has
 * done its work, has proven that; any other has to run for a time, counted from when it was first seen
 * to run. A restart by the engine is a failed try: the time begins anew and is longer. What happens to
 * a container is looked at at once.
 *
 * Returns what the last look saw of the whole stack; nothing where nobody is waited for.
 *
 * Throws `unhealthy` as soon as one of them cannot become good any more, with the last lines it
 * wrote, and `timeout` at the deadline, naming what was still missing.
 */
export async function waitHealthy(
  wait: HealthWait,
  signal: AbortSignal,
): Promise<ObservedStack | undefined> {
  if (wait.services.length === 0) return undefined;
  return await withLooks(wait, (looks) => untilHealthy(wait, looks, signal), signal);
}

async function untilHealthy(
  wait: HealthWait,
  looks: Looks,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const { clock, services, deadline, known } = wait;
  const restarts = new RestartWatch(known);
  const kept = new KeptWatch(wait.kept ?? new Map());
  // What a health check said of one that ran before says nothing of now, unless a new one was waited for.
  const believes = ({ container: { id, service } }: ContainerDetails) =>
    known?.has(id) === false || wait.kept?.has(service) === true;
  const proven = new ProvenWatch({ watchMs: wait.watchMs, believes }, looks);
  const awaited = new Set(
    services.filter(({ expectation }) => expectation.autostart && expectation.replicas > 0)
      .map(({ name }) => name),
  );
  let incomplete = 0;
  // A look between two samples may undo what they said, but does not make them more.
  for (let counts = true;;) {
    const observed = await observe(wait.engine, wait, signal);
    const details = await inspectServices(wait, observed, signal);
    const times = { nowMs: clock.now().getTime(), endMs: deadline.getTime() };
    const { now, counted, changedWork } = kept.look(services, details, times);
    if (now.kind === "failed") await fail(wait, now, signal);
    const { restarted, looping } = restarts.look(counted);
    if (looping !== undefined) await fail(wait, loopText(looping), signal);
    const watched = counted.filter(({ container }) => awaited.has(container.service));
    if (proven.look(watched, restarted) && now.kind === "ready") return observed;
    const missing = now.kind === "waiting" ? missingText(now.services) : "";
    // Nobody makes containers any more by now, so none that is missing will come.
    const isIncomplete = now.kind === "waiting" && now.incomplete.length > 0;
    incomplete = isIncomplete ? incomplete + (counts ? 1 : 0) : 0;
    if (incomplete === MOST_INCOMPLETE) {
      throw errors.unhealthy(
        `${missing}; somebody removed what is missing while the release was rolled out`,
      );
    }
    if (missing !== "" && clock.now() >= deadline) {
      throw errors.timeout(`not healthy within the deployment's timeout: ${missing}`);
    }
    if (changedWork) wait.onWatching?.();
    wait.progress?.(
      missing === "" ? "making sure that it stays healthy" : `waiting for ${missing}`,
    );
    counts = await looks.next() === "interval";
  }
}

/** The containers of the services, each as it is when it is asked; one that is gone is left out. */
async function inspectServices(
  { engine, services, only }: HealthWait,
  { containers }: ObservedStack,
  signal: AbortSignal,
): Promise<ContainerDetails[]> {
  const names = new Set(services.map((each) => each.name));
  const details: ContainerDetails[] = [];
  const isMeant = ({ id, service }: ObservedContainer) =>
    names.has(service) && only?.has(id) !== false;
  for (const container of containers.filter(isMeant)) {
    const found = await engine.inspectContainer(container.id, signal);
    if (found !== undefined) details.push(found);
  }
  return details;
}

type Hopeless = Omit<Extract<Readiness, { readonly kind: "failed" }>, "kind">;

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
  throw errors.unhealthy(`service ${service}: container ${container.name} ${why}${hint}${log}`);
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
