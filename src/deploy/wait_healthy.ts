import type { ContainerDetails, Engine } from "../docker/engine.ts";
import {
  errors,
  fewOf,
  type ObservedContainer,
  type ObservedStack,
  type Progress,
  type ReleaseService,
  type StackKey,
  waitedText,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { type KeptServices, KeptWatch } from "./kept_services.ts";
import { lastLines } from "./last_lines.ts";
import { type Looks, withLooks } from "./looks.ts";
import { observe } from "./observe.ts";
import { ProvenWatch, STEADY_MS } from "./proven.ts";
import { MOST_RESTARTS, RestartWatch } from "./restart_watch.ts";
import type { Readiness } from "./readiness.ts";

/** Samples in a row in which a container may be missing, since somebody may just be making it. */
const MOST_INCOMPLETE = 3;
/** Services to wait for, and how long. */
export interface HealthWait {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly key: StackKey;
  readonly services: readonly ReleaseService[];
  /** By the clock's uptime. */
  readonly deadline: number;
  /** Ids of containers that ran before, whose earlier restarts do not count; all when absent. */
  readonly known?: ReadonlySet<string>;
  /** Services that the plan left alone, with their changed dependency; none by default. */
  readonly kept?: KeptServices;
  /** Milliseconds that a container of a service without a health check must run. */
  readonly watchMs: (service: string) => number;
  /** Called, maybe more than once, when all changed services work and are only watched. */
  readonly onWatching?: () => void;
  /** Ids of the only containers to judge; all containers of the services by default. */
  readonly only?: ReadonlySet<string>;
  /** Receives at every sample what is still missing. */
  readonly progress?: Progress;
}

/**
 * Waits until `services` are ready. A healthy container, or one that finished successfully, is
 * ready; one without a health check must run for a time, counted from the first look that saw it
 * run. A restart by the engine is a failed try: the time begins anew and is longer. Events of
 * containers are looked at immediately.
 *
 * Returns the last observation of the whole stack; nothing without services to wait for.
 *
 * Throws `unhealthy` as soon as a service cannot become ready any more, with the last lines of its
 * output, and `timeout` at the deadline, naming what was still missing, or when containers that
 * work do not stay up: an engine may tell of a new start at each look.
 */
export async function waitHealthy(
  wait: HealthWait,
  signal: AbortSignal,
): Promise<ObservedStack | undefined> {
  if (wait.services.length === 0) return undefined;
  return await withLooks(wait, (looks) => untilHealthy(wait, looks, signal), signal);
}

async function untilHealthy(wait: HealthWait, looks: Looks, signal: AbortSignal) {
  const { clock, services, deadline, known } = wait;
  const since = clock.uptime();
  const restarts = new RestartWatch(known);
  const kept = new KeptWatch(wait.kept ?? new Map());
  // A health status from before the release proves nothing, unless a newer check was awaited.
  const believes = ({ container: { id, service } }: ContainerDetails) =>
    known?.has(id) === false || wait.kept?.has(service) === true;
  const proven = new ProvenWatch({ watchMs: wait.watchMs, believes }, looks);
  const awaited = new Set(
    services.filter(({ expectation }) => expectation.autostart && expectation.replicas > 0)
      .map(({ name }) => name),
  );
  const longest = Math.max(STEADY_MS, ...services.map(({ name }) => wait.watchMs(name)));
  const lastWatched = deadline + (MOST_RESTARTS + 1) * longest;
  let incomplete = 0;
  // A look at an event may reset the count of incomplete samples, but does not increase it.
  for (let counts = true;;) {
    const observed = await observe(wait.engine, wait, signal);
    const details = await inspectServices(wait, observed, signal);
    const times = { nowMs: clock.uptime(), endMs: deadline };
    const { now, counted, changedWork } = kept.look(services, details, times);
    if (now.kind === "failed") await fail(wait, now, signal);
    const { restarted, looping } = restarts.look(counted, details);
    if (looping !== undefined) await fail(wait, loopText(looping, looks), signal);
    const watched = counted.filter(({ container }) => awaited.has(container.service));
    if (proven.look(watched, restarted) && now.kind === "ready") return observed;
    const missing = now.kind === "waiting" ? missingText(now.services) : "";
    // All containers were made before this wait, so a missing one will not appear any more.
    const isIncomplete = now.kind === "waiting" && now.incomplete.length > 0;
    incomplete = isIncomplete ? incomplete + (counts ? 1 : 0) : 0;
    if (incomplete === MOST_INCOMPLETE) {
      throw errors.unhealthy(
        `${missing}; somebody removed what is missing while the release was rolled out`,
      );
    }
    if (clock.uptime() >= (missing === "" ? lastWatched : deadline)) {
      const why = missing || "containers were started anew again and again";
      const [ended] = counted.filter(({ container: { id } }) => restarted.has(id));
      const how = ended && await endText(wait, ended.container, looks, signal);
      throw errors.timeout(`not healthy within the deployment's timeout: ${why}${how ?? ""}`);
    }
    if (changedWork) wait.onWatching?.();
    wait.progress?.(
      missing === ""
        ? "making sure that it stays healthy"
        : `waiting for ${missing}${waitedText(since, clock.uptime(), deadline)}`,
    );
    counts = await looks.next() === "interval";
  }
}

/** Details of the services' containers; one that vanishes meanwhile is left out. */
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
  { engine, clock, kept }: HealthWait,
  { service, container, why }: Hopeless,
  signal: AbortSignal,
): Promise<never> {
  const cause = kept?.get(service);
  const hint = cause === undefined
    ? ""
    : `; the release left ${service} alone, but changed ${cause}, which it depends on`;
  const log = await lastLines({ engine, clock }, container.id, signal);
  throw errors.unhealthy(`service ${service}: container ${container.name} ${why}${hint}${log}`);
}

function loopText({ container }: ContainerDetails, looks: Pick<Looks, "ended">): Hopeless {
  const { service, id, exitCode } = container;
  const end = looks.ended(id) ?? (exitCode === undefined ? "ended" : `exited with ${exitCode}`);
  const why = `keeps restarting: it ${end}, ${MOST_RESTARTS} times by now`;
  return { service, container, why };
}

/** How a container ended that the engine started again, with the last lines of its output. */
async function endText(
  { engine, clock }: HealthWait,
  { id, name }: ObservedContainer,
  looks: Pick<Looks, "ended">,
  signal: AbortSignal,
): Promise<string> {
  const log = await lastLines({ engine, clock }, id, signal);
  return `; container ${name} ${looks.ended(id) ?? "ended"}${log}`;
}

function missingText(services: Readonly<Record<string, string>>): string {
  return fewOf(Object.entries(services).map(([name, why]) => `${name}: ${why}`));
}
