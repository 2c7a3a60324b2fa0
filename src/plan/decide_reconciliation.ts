import {
  type Drift,
  formatDrift,
  type Heard,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
  type ReconciliationEvent,
  type ReconciliationOptions,
  type ReleaseService,
  type ServicePlan,
  SHARES,
  withFollowers,
} from "../model/mod.ts";
import { summarise } from "./decide.ts";
import { planFor } from "./plan_for.ts";
import { withFewReasons } from "./replace_reasons.ts";

/** A stack's release and its observed state, with what may be done about the difference. */
export interface ReconciliationInput {
  /** The services of the deployed release. */
  readonly services: readonly ReleaseService[];
  readonly observed: ObservedStack;
  readonly options: ReconciliationOptions;
  /** The events behind this look; absent for a look at everything. */
  readonly heard: Heard | undefined;
  /** Number of times that a container was restarted within the window. */
  readonly restarts: (container: ObservedContainer) => number;
  /** Whether it is a swarm stack: the swarm restarts ended tasks by itself. */
  readonly isStack?: boolean;
  /** Changes by hand that are to be undone; empty where drift is only reported. */
  readonly drift?: readonly Drift[];
}

/** A container to restart as it is. */
export interface Restart {
  readonly container: ObservedContainer;
  readonly because: string;
  /** Whether the restart counts against `restartLimit`. */
  readonly counts: boolean;
}

/** Actions on a stack whose containers differ from its release. */
export interface Reconciliation {
  /** Brings back what is missing or dead; a skip where nothing is. */
  readonly plan: Plan;
  /** Without such a plan: containers to restart, owners of shared namespaces first. */
  readonly restarts: readonly Restart[];
  /** Unhealthy containers that were restarted as often as `restartLimit` says. */
  readonly suppressed: readonly ObservedContainer[];
}

/**
 * Decides how to repair a stack, from observed state alone: events only tell whether its author
 * wants a difference repaired. What the release itself defines is never changed.
 */
export function decideReconciliation(input: ReconciliationInput): Reconciliation {
  if (input.isStack === true) return { plan: repairOfStack(input), restarts: [], suppressed: [] };
  const gone = goneOf(input);
  const plan = redeployment({ ...input, gone });
  const sick = ofEvent(input, "unhealthy", ({ id, health }) => {
    // A look for another reason may precede the engine's event, which has a look of its own.
    const isMeant = input.heard === undefined || input.heard.get(id)?.has("unhealthy") === true;
    return health === "unhealthy" && isMeant;
  });
  const { restartLimit: limit } = input.options;
  const isSpent = (each: ObservedContainer) => limit > 0 && input.restarts(each) >= limit;
  const suppressed = sick.filter(isSpent);
  if (plan.kind !== "skip") return { plan, restarts: [], suppressed };
  const starved = ofEvent(input, "oom", ({ id }) => input.heard?.get(id)?.has("oom") === true);
  const restarts = [
    ...sick.filter((each) => !isSpent(each)).map(restart("is unhealthy", true)),
    ...starved.filter((each) => !sick.includes(each)).map(restart("had no memory left", false)),
  ];
  return { plan, restarts: [...restarts, ...sharers(restarts, input)], suppressed };
}

function restart(why: string, counts: boolean) {
  return (container: ObservedContainer): Restart => {
    return { container, because: `container ${container.name} ${why}`, counts };
  };
}

/**
 * The repair of a swarm stack: undoes drift, and brings back missing services and undoes updates
 * where the author's events include these. Needs no events, as all of that can be seen.
 */
function repairOfStack(input: ReconciliationInput): Plan {
  const { services, observed, options } = input;
  const plans = planFor({ services }, observed, { kind: "repaired" }).services.map((each) => {
    const drift = driftOf(each, input);
    if (drift.length > 0) return againstDrift(each, drift);
    const event = STACK_EVENTS[each.action];
    const isWanted = event !== undefined && options.events.includes(event);
    return isWanted || each.action === "keep" ? each : notWanted(each);
  });
  return planOf([...plans, ...strangers(input)]);
}

const STACK_EVENTS: Readonly<Partial<Record<ServicePlan["action"], ReconciliationEvent>>> = {
  create: "destroy",
  scale: "update",
  recreate: "update",
};

function notWanted({ name }: ServicePlan): ServicePlan {
  return { name, action: "keep", because: ["not among its reconciliation.events"] };
}

function planOf(all: readonly ServicePlan[]): Plan {
  const services = withFewReasons(all);
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0
    ? { kind: "skip", reason: "no_changes", message: "no changes", services }
    : { kind: "deploy", message: summarise(changes), services };
}

/** Running containers of the release that an event applies to, if the author reacts to it. */
function ofEvent(
  { services, observed, options }: ReconciliationInput,
  event: ReconciliationEvent,
  applies: (container: ObservedContainer) => boolean,
): ObservedContainer[] {
  if (!options.events.includes(event)) return [];
  const own = new Set(services.map((each) => each.name));
  return observed.containers.filter((each) =>
    each.state === "running" && own.has(each.service) && applies(each)
  );
}

/** With what each service is judged by, which is looked up once. */
interface Mended extends ReconciliationInput {
  readonly gone: ReturnType<typeof goneOf>;
}

/** The plan to repair the release, less what the author does not want repaired. */
function redeployment(input: Mended): Plan {
  const { services, observed } = input;
  const repaired = planFor({ services }, observed, { kind: "repaired" });
  const own = repaired.services.map((each) => mended(each, input));
  return planOf([...withFollowers(own, services, observed), ...strangers(input)]);
}

/** Removals of services that no release had; only listed in drift that is to be undone. */
function strangers({ services, drift = [] }: ReconciliationInput): ServicePlan[] {
  const known = new Set(services.map(({ name }) => name));
  const strange = drift.filter(({ service }) => service !== "" && !known.has(service));
  return [...Map.groupBy(strange, ({ service }) => service)].map(([name, lines]) => ({
    name,
    action: "remove",
    because: lines.map(({ container }) =>
      `container ${container?.name} was added by hand: the release has no such service`
    ),
  }));
}

function driftOf({ name }: ServicePlan, { drift = [] }: ReconciliationInput): readonly Drift[] {
  return drift.filter(({ service }) => service === name);
}

function mended(plan: ServicePlan, input: Mended): ServicePlan {
  const drift = driftOf(plan, input);
  if (drift.length > 0) return againstDrift(plan, drift);
  const isUpdated = ({ id, service }: ObservedContainer) =>
    service === plan.name && input.heard?.get(id)?.has("update") === true;
  const updated = ofEvent(input, "update", isUpdated);
  if (updated.length > 0) {
    const because = updated.map((each) => `container ${each.name} was updated by hand`);
    return { name: plan.name, action: "recreate", because };
  }
  return plan.action === "keep" || mayComeBack(plan, input) ? plan : notWanted(plan);
}

/** Whether the author wants the stopped or missing containers of a service back. */
function mayComeBack({ name, action }: ServicePlan, input: Mended): boolean {
  const { services, observed, heard } = input;
  const service = services.find((each) => each.name === name);
  const containers = observed.containers.filter((each) => each.service === name);
  const stopped = containers.filter((each) => STOPPED.has(each.state));
  const isMissing = containers.length < (service?.expectation.replicas ?? 0);
  const mayHave = (possible: readonly ReconciliationEvent[]) =>
    heard === undefined && input.options.events.some((each) => possible.includes(each));
  return action !== "remove" && (
    stopped.some(({ id }) => mayHave(ENDS) || isExplained(heard?.get(id), input)) ||
    isMissing && (mayHave(GOES) || input.gone.some((events) => isExplained(events, input)))
  );
}

/** A planned start, rename or scaling undoes listed drift; other drift takes a new container. */
function againstDrift(plan: ServicePlan, drift: readonly Drift[]): ServicePlan {
  const because = drift.map(formatDrift);
  const isListed = drift.every(({ field }) => ["containers", "name", "state"].includes(field));
  if (plan.action === "create" || isListed && plan.action !== "keep") return { ...plan, because };
  return { name: plan.name, action: "recreate", because };
}

const STOPPED: ReadonlySet<string> = new Set(["created", "exited", "dead"]);
/** Events that may leave a stopped container, and events that may leave none. */
const ENDS: readonly ReconciliationEvent[] = ["die", "stop", "kill", "oom"];
const GOES: readonly ReconciliationEvent[] = ["die", "destroy"];

/** The events of each container that does not exist any more. */
function goneOf({ heard, observed }: ReconciliationInput): ReadonlySet<ReconciliationEvent>[] {
  const there = new Set(observed.containers.map(({ id }) => id));
  return [...heard ?? []].filter(([id]) => !there.has(id)).map(([, events]) => events);
}

/** Whether the author wants the effect of these events repaired. */
function isExplained(
  events: ReadonlySet<ReconciliationEvent> | undefined,
  { options }: ReconciliationInput,
): boolean {
  // A `stop` is intended, although a `die` follows it; only a `die` without it is a crash.
  return options.events.some((each) =>
    events?.has(each) === true && (each !== "die" || !events.has("stop"))
  );
}

/** Containers in the namespaces of restarted ones, where they would stay without a restart. */
function sharers(restarts: readonly Restart[], { services, observed }: ReconciliationInput) {
  const restarted = new Set(restarts.map(({ container }) => container.service));
  const found: Restart[] = [];
  for (let grows = true; grows;) {
    grows = false;
    for (const { name, follows } of services) {
      const owner = Object.keys(follows).find((other) =>
        restarted.has(other) && follows[other]?.startsWith(SHARES)
      );
      if (owner === undefined || restarted.has(name)) continue;
      restarted.add(name);
      grows = true;
      const because = `${follows[owner]}, and that is restarted`;
      const own = observed.containers.filter((each) => each.service === name);
      const running = own.filter((each) => each.state === "running");
      found.push(...running.map((container) => ({ container, because, counts: false })));
    }
  }
  return found;
}
