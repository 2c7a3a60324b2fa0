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

/** A stack as it is to be and as it is seen, and what may be done about the difference. */
export interface ReconciliationInput {
  /** The services of the release that is deployed. */
  readonly services: readonly ReleaseService[];
  readonly observed: ObservedStack;
  readonly options: ReconciliationOptions;
  /** What led here; absent when everything is looked at. */
  readonly heard: Heard | undefined;
  /** Number of times that a container was restarted within the window. */
  readonly restarts: (container: ObservedContainer) => number;
  /** Whether it is one of a swarm, which brings back by itself what ended. */
  readonly isStack?: boolean;
  /** What somebody changed by hand and is to be mended; none where that is only told. */
  readonly drift?: readonly Drift[];
}

/** A container that is started anew as it is. */
export interface Restart {
  readonly container: ObservedContainer;
  readonly because: string;
  /** Whether it counts against the limit. */
  readonly counts: boolean;
}

/** Actions for a stack whose containers are not what was deployed. */
export interface Reconciliation {
  /** What is missing or dead comes back; a skip where nothing is. */
  readonly plan: Plan;
  /** Where nothing comes back: containers to restart, those that others live in first. */
  readonly restarts: readonly Restart[];
  /** Unhealthy containers that were restarted too often. */
  readonly suppressed: readonly ObservedContainer[];
}

/**
 * Decides what is done about a stack, from what is observed alone: what was heard only says whether a
 * difference is one that its author wants mended. What the release itself wants is never changed.
 */
export function decideReconciliation(input: ReconciliationInput): Reconciliation {
  if (input.isStack === true) return { plan: repairOfStack(input), restarts: [], suppressed: [] };
  const plan = redeployment(input);
  const sick = ofEvent(input, "unhealthy", ({ id, health }) => {
    // A look for another reason may come before the engine's word, which is acted on then.
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
 * The repair of a stack of a swarm: what is drift, a service that is gone, where its author reacts to
 * that, and one that somebody updated. Which of them was heard of does not matter: all can be seen.
 */
function repairOfStack(input: ReconciliationInput): Plan {
  const { services, observed, options } = input;
  const plans = planFor(services, observed, { kind: "repaired" }).services.map((each) => {
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

function planOf(services: readonly ServicePlan[]): Plan {
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0
    ? { kind: "skip", reason: "no_changes", message: "no changes", services }
    : { kind: "deploy", message: summarise(changes), services };
}

/** Running containers of the release that an event of this kind is about. */
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

/** The repair of the release, of which only what may be mended is left. */
function redeployment(input: ReconciliationInput): Plan {
  const { services, observed } = input;
  const repaired = planFor(services, observed, { kind: "repaired" });
  const own = repaired.services.map((each) => mended(each, input));
  return planOf([...withFollowers(own, services, observed), ...strangers(input)]);
}

/** Services that no release had: they go where drift is mended. */
function strangers({ services, drift = [] }: ReconciliationInput): ServicePlan[] {
  const strange = drift.filter(({ service }) =>
    service !== "" && !services.some(({ name }) => name === service)
  );
  return [...Map.groupBy(strange, ({ service }) => service)].map(([name, lines]) => ({
    name,
    action: "remove",
    because: lines.map(formatDrift),
  }));
}

function driftOf({ name }: ServicePlan, { drift = [] }: ReconciliationInput): readonly Drift[] {
  return drift.filter(({ service }) => service === name);
}

function mended(plan: ServicePlan, input: ReconciliationInput): ServicePlan {
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

/** True where the author wants mended what became of containers of a service. */
function mayComeBack({ name, action }: ServicePlan, input: ReconciliationInput): boolean {
  const { services, observed, heard } = input;
  const service = services.find((each) => each.name === name);
  const containers = observed.containers.filter((each) => each.service === name);
  const stopped = containers.filter((each) => STOPPED.has(each.state));
  const isMissing = containers.length < (service?.expectation.replicas ?? 0);
  const mayHave = (possible: readonly ReconciliationEvent[]) =>
    heard === undefined && input.options.events.some((each) => possible.includes(each));
  return action !== "remove" && (
    stopped.some(({ id }) => mayHave(ENDS) || isExplained(heard?.get(id), input)) ||
    isMissing && (mayHave(GOES) || goneOf(input).some((events) => isExplained(events, input)))
  );
}

/** What is mended anyway mends a name, a state and a number; only a new container has other limits. */
function againstDrift(plan: ServicePlan, drift: readonly Drift[]): ServicePlan {
  const because = drift.map(formatDrift);
  const isListed = drift.every(({ field }) => ["containers", "name", "state"].includes(field));
  if (plan.action === "create" || isListed && plan.action !== "keep") return { ...plan, because };
  return { name: plan.name, action: "recreate", because };
}

const STOPPED: ReadonlySet<string> = new Set(["created", "exited", "dead"]);
/** The events after which a container does not run, and after which there is none. */
const ENDS: readonly ReconciliationEvent[] = ["die", "stop", "kill", "oom"];
const GOES: readonly ReconciliationEvent[] = ["die", "destroy"];

/** What was heard of each container that is not there any more. */
function goneOf({ heard, observed }: ReconciliationInput): ReadonlySet<ReconciliationEvent>[] {
  const isThere = (id: string) => observed.containers.some((each) => each.id === id);
  return [...heard ?? []].filter(([id]) => !isThere(id)).map(([, events]) => events);
}

/** Whether its author wants mended what these events did. */
function isExplained(
  events: ReadonlySet<ReconciliationEvent> | undefined,
  { options }: ReconciliationInput,
): boolean {
  // Who tells a container to stop means that it shall be down; a crash nobody told.
  return options.events.some((each) =>
    events?.has(each) === true && (each !== "die" || !events.has("stop"))
  );
}

/** Containers that live in the namespace of one that is restarted, and would stay in its dead one. */
function sharers(
  restarts: readonly Restart[],
  { services, observed }: ReconciliationInput,
): Restart[] {
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
