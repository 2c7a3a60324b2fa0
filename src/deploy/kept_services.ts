import type { ContainerDetails } from "../docker/engine.ts";
import type {
  ObservedContainer,
  ObservedStack,
  ReleaseService,
  ServicePlan,
} from "../model/mod.ts";
import { type Readiness, readiness } from "./readiness.ts";

/**
 * Services that a plan leaves alone and that have to go on working: name to what they depend on.
 */
export type KeptServices = ReadonlyMap<string, string>;

/**
 * The services that depend on one that is changed, however long the chain, that are not changed
 * themselves, and that work now: a release that breaks one of them is a bad one. What did not work
 * before is not its doing.
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

/** Time for which the next health check of a kept service is waited for: as often as engines check. */
const CHECK_INTERVAL_MS = 30_000;

/** The result of one look at services. */
interface KeptLook {
  readonly now: Readiness;
  /** The containers whose restarts count from here on. */
  readonly counted: readonly ContainerDetails[];
  /** Whether the others, which were changed, are ready. */
  readonly changedWork: boolean;
}

/**
 * Follows kept services from look to look. While those they depend on are not ready they may fail and
 * be restarted; from then on they are judged, by health checks that began after that.
 */
export class KeptWatch {
  readonly #kept: KeptServices;
  /** Time at which the last health check of each container began, before the others were ready. */
  #checks: ReadonlyMap<string, number> | undefined;
  #readyMs = 0;

  constructor(kept: KeptServices) {
    this.#kept = kept;
  }

  /** Judges `services` by what their containers are at a moment; after `endMs` no check is waited for. */
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

  /** That it became unhealthy while it had nobody to talk to says nothing. */
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

/** Why nobody knows yet whether a kept container still works; `undefined` where it does. */
function unproven(
  details: ContainerDetails,
  lastStart: number,
  isPatient: boolean,
): string | undefined {
  const { container: { health }, lastCheck } = details;
  if (health === "none" || lastCheck === undefined) return undefined;
  if (checkedAt(details) <= lastStart) {
    return isPatient ? "its next health check, since what it needs changed" : undefined;
  }
  return lastCheck.passed ? undefined : "its health check failed";
}

/** The names of the services that a plan does something to. */
export function changedNames(plans: readonly ServicePlan[]): string[] {
  return plans.filter((each) => each.action !== "keep").map((each) => each.name);
}
