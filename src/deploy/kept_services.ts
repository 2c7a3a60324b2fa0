import type { ContainerDetails } from "../docker/engine.ts";
import type {
  ObservedContainer,
  ObservedStack,
  ReleaseService,
  ServicePlan,
} from "../model/mod.ts";
import { type Readiness, readiness } from "./readiness.ts";

/** Unchanged services that must stay healthy: name to the dependency that links it to a change. */
export type KeptServices = ReadonlyMap<string, string>;

/**
 * Unchanged services that depend, directly or not, on a changed one, and that are healthy now: a
 * release that breaks them has failed. It is not blamed for services that did not work before.
 */
export function keptDependents(
  changed: ReadonlySet<string>,
  desired: readonly ReleaseService[],
  observed: ObservedStack,
): KeptServices {
  const pairs = desired.flatMap(({ name, dependsOn }) => dependsOn.map((on) => ({ name, on })));
  const dependents = Map.groupBy(pairs, ({ on }) => on);
  const found = new Set(changed);
  for (const on of found) for (const { name } of dependents.get(on) ?? []) found.add(name);
  const kept = desired.filter(({ name }) => found.has(name) && !changed.has(name));
  const works = kept.filter((each) => readiness([each], observed).kind === "ready");
  return new Map(works.map(({ name, dependsOn }) => {
    return [name, dependsOn.find((each) => found.has(each)) ?? ""];
  }));
}

/** Milliseconds to wait for a kept service's next health check: the engine's default interval. */
const CHECK_INTERVAL_MS = 30_000;

interface KeptLook {
  readonly now: Readiness;
  /** The containers whose restarts count from now on. */
  readonly counted: readonly ContainerDetails[];
  /** Whether the changed services are ready. */
  readonly changedWork: boolean;
}

/**
 * Follows kept services from look to look. While the services they depend on are not ready, they
 * may fail and be restarted; after that they are judged, by health checks that began later.
 */
export class KeptWatch {
  readonly #kept: KeptServices;
  /** When each container's last health check began, seen once the changed services were ready. */
  #checks: ReadonlyMap<string, number> | undefined;
  #readyMs = 0;

  constructor(kept: KeptServices) {
    this.#kept = kept;
  }

  /** Judges `services` by their containers at one moment; awaits no health check after `endMs`. */
  look(
    services: readonly ReleaseService[],
    details: readonly ContainerDetails[],
    { nowMs, endMs }: { readonly nowMs: number; readonly endMs: number },
  ): KeptLook {
    const isKept = ({ container }: ContainerDetails) => this.#kept.has(container.service);
    const counted = details.filter((each) => !isKept(each));
    const containersOf = (of: readonly ContainerDetails[]) => of.map(({ container }) => container);
    const changed = readiness(
      services.filter(({ name }) => !this.#kept.has(name)),
      { containers: containersOf(counted) },
    );
    if (changed.kind !== "ready") return { now: changed, counted, changedWork: false };
    const judged = { counted: details, changedWork: true };
    const kept = details.filter(isKept);
    if (this.#checks === undefined) {
      this.#readyMs = nowMs;
      this.#checks = new Map(kept.map((each) => [each.container.id, checkedAt(each)]));
    }
    const all = services.filter(({ name }) => this.#kept.has(name));
    const now = readiness(all, { containers: kept.map((each) => this.#judgeable(each)) });
    if (now.kind !== "ready") return { now, ...judged };
    const isPatient = nowMs < Math.min(this.#readyMs + CHECK_INTERVAL_MS, endMs);
    const lastStart = Math.max(0, ...counted.map(({ startedAt }) => startedAt?.getTime() ?? 0));
    const waiting = Object.fromEntries(
      kept.flatMap((each) => {
        const why = unproven(each, lastStart, isPatient);
        return why === undefined ? [] : [[each.container.service, why]];
      }),
    );
    if (Object.keys(waiting).length === 0) return { now, ...judged };
    return { now: { kind: "waiting", services: waiting, incomplete: [] }, ...judged };
  }

  /** Ignores a failed health check from before the changed services were ready. */
  #judgeable(details: ContainerDetails): ObservedContainer {
    const { container, lastCheck } = details;
    const isOld = lastCheck !== undefined && this.#checks?.get(container.id) === checkedAt(details);
    return isOld && container.health === "unhealthy"
      ? { ...container, health: "starting" }
      : container;
  }
}

function checkedAt({ lastCheck }: ContainerDetails): number {
  return lastCheck?.beganAt.getTime() ?? 0;
}

/** Why a kept container is not proven to work yet; `undefined` when it is. */
function unproven(details: ContainerDetails, lastStart: number, isPatient: boolean) {
  const { container: { health }, lastCheck } = details;
  if (health === "none" || lastCheck === undefined) return undefined;
  if (checkedAt(details) <= lastStart) {
    return isPatient ? "its next health check, since what it needs changed" : undefined;
  }
  return lastCheck.passed ? undefined : "its health check failed";
}

/** The names of the services that a plan changes. */
export function changedNames(plans: readonly ServicePlan[]): string[] {
  return plans.filter((each) => each.action !== "keep").map((each) => each.name);
}
