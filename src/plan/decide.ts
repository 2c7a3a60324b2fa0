import {
  fewOf,
  isOurs,
  LABELS,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
  type ReleaseService,
  type ServicePlan,
  withFollowers,
} from "../model/mod.ts";
import {
  changedInputs,
  driftOf,
  inPlaceReasons,
  replaceReasons,
  withFewReasons,
} from "./replace_reasons.ts";
import type { DecideInput } from "./decide_input.ts";

/**
 * Decides what to do to every service so that the engine matches the release, and why. Containers are
 * judged by Stackwright's digest label alone: compose's hash depends on its version.
 */
export function decide(asked: DecideInput): Plan {
  const observed = inOrder(asked.observed);
  const ours = new Set(everything(observed).filter(isOurs).map(({ service }) => service));
  const input: Judged = { ...asked, observed, ours };
  const own = input.desired.map((service) => decideService(service, input));
  const desired = withFollowers(own, input.desired, input.observed);
  const services = withFewReasons([...desired, ...decideOrphans(input)]);
  const changes = services.filter((each) => each.action !== "keep");
  // Unmanaged containers are no drift: they alone cause no rollout, but go with the next one.
  const reasons = changes.filter((each) => each.action !== "remove" || ours.has(each.name));
  if (reasons.length === 0) {
    const kept = services.map((each) => each.action === "remove" ? keepForeign(each) : each);
    return { kind: "skip", reason: "no_changes", message: "no changes", services: kept };
  }
  return { kind: "deploy", message: summarise(changes), services };
}

/** What a decision rests on, with what is looked up time and again. */
interface Judged extends DecideInput {
  /** Services that have containers of ours, or are idle ones of ours. */
  readonly ours: ReadonlySet<string>;
}

/** A plan's changes as one line: `recreate web; create worker`. The first few are named for each action. */
export function summarise(changes: readonly ServicePlan[]): string {
  const all = changes.filter((each) => each.action !== "keep");
  return [...Map.groupBy(all, ({ action }) => action)].map(([action, each]) =>
    `${action} ${fewOf(each.map(({ name }) => name))}`
  ).join("; ");
}

/** Engines list containers in any order; decisions and their reasons must not depend on that. */
function inOrder(observed: ObservedStack): ObservedStack {
  const key = (each: ObservedContainer) => `${each.name} ${each.id}`;
  return {
    ...observed,
    containers: [...observed.containers].sort((a, b) => key(a) < key(b) ? -1 : 1),
  };
}

function decideService(service: ReleaseService, input: DecideInput): ServicePlan {
  const { name, expectation } = service;
  const containers = input.observed.containers.filter((each) => each.service === name);
  const plan = (action: ServicePlan["action"], ...because: string[]) => ({ name, action, because });
  if (expectation.replicas === 0) {
    return containers.length === 0
      ? withoutContainers(service, input)
      : plan("scale", `the release wants no container, ${containers.length} exist`);
  }
  if (containers.length === 0) return plan("create", missingReason(service, input));
  const outdated = replaceReasons(service, containers, input);
  if (outdated.length > 0) return plan("recreate", ...outdated);
  const inPlace = inPlaceReasons(service, input);
  // Which content missing or stopped containers have seen is unknown: these are recreated.
  const strayed = containers.flatMap((each) => driftOf(service, each));
  if (inPlace.length > 0) {
    const complete = containers.length === expectation.replicas && strayed.length === 0;
    return plan(complete ? "reload" : "recreate", ...inPlace);
  }
  if (containers.length !== expectation.replicas) {
    return plan("scale", `${containers.length} of ${expectation.replicas} containers exist`);
  }
  if (strayed.length > 0) return plan("start", ...strayed);
  const isDown = !containers.some(({ state }) => state === "running");
  if (isDown && input.observed.idle === undefined && input.ranBefore?.includes(name)) {
    return plan(
      "start",
      "it ran before a deployment that came to no end, which may have stopped it",
    );
  }
  return plan("keep", "its inputs are unchanged");
}

/** A service without containers; in a swarm it exists all the same, for people to scale. */
function withoutContainers(service: ReleaseService, input: DecideInput): ServicePlan {
  const { name, digest } = service;
  const { idle } = input.observed;
  const there = idle?.find((each) => each.service === name);
  if (idle === undefined || there?.labels[LABELS.digest] === digest) {
    return { name, action: "keep", because: ["the release wants no container"] };
  }
  if (there === undefined) {
    return { name, action: "create", because: [missingReason(service, input)] };
  }
  return { name, action: "recreate", because: changedInputs(service, { ...there, name }, input) };
}

function missingReason(service: ReleaseService, input: DecideInput): string {
  const known = input.previous?.some((each) => each.name === service.name);
  if (input.previous === undefined) return "first deployment";
  return known ? "its container is missing" : "the service is new in this release";
}

function decideOrphans(input: Judged): ServicePlan[] {
  const desired = new Set(input.desired.map((each) => each.name));
  const all = everything(input.observed);
  const surplus = all.filter((each) => !desired.has(each.service));
  if (!input.policy.removeOrphans) return takenBack(surplus, input);
  const orphans = new Set(surplus.map((each) => each.service));
  // An unmanaged stack is adopted as it is: services that its owner left there stay this time.
  if (input.previous === undefined && input.ours.size === 0) {
    return [...orphans].map((name) =>
      whyLeft(name, input) ?? keepForeign({ name, action: "remove", because: [] })
    );
  }
  return [...orphans].sort().map((name) => whyLeft(name, input) ?? removal(name, input));
}

/** The plan for a service that is no orphan: its profile is not active, and somebody else started it. */
function whyLeft(name: string, input: Judged): ServicePlan | undefined {
  if (!isInactive(name, input) || input.ours.has(name)) return undefined;
  return {
    name,
    action: "keep",
    because: ["its profile is not active, and Stackwright did not make it: it is left alone"],
  };
}

function removal(name: string, input: DecideInput): ServicePlan {
  const why = isInactive(name, input)
    ? "its profile is not active any more"
    : "the service is no longer in the compose files";
  return { name, action: "remove", because: [why] };
}

function isInactive(name: string, { inactive = [] }: DecideInput): boolean {
  return inactive.includes(name);
}

/** Removals of services that the release which is left added; an older orphan has another digest. */
function takenBack(
  surplus: readonly Pick<ObservedContainer, "service" | "labels">[],
  { takenBack: failed = [], undone = [] }: DecideInput,
): ServicePlan[] {
  const made = [...failed, ...undone].filter(({ name, digest }) =>
    surplus.some((each) => each.service === name && each.labels[LABELS.digest] === digest)
  );
  return made.map(({ name }) => ({
    name,
    action: "remove" as const,
    because: [
      undone.length === 0
        ? "the release that failed had added it"
        : "the release that is left had added it",
    ],
  }));
}

function keepForeign(plan: ServicePlan): ServicePlan {
  return {
    name: plan.name,
    action: "keep",
    because: ["not in the compose files, and not made by Stackwright: kept"],
  };
}

/** Containers, several for a service maybe, and the idle services of a swarm. */
function everything({ containers, idle = [] }: ObservedStack) {
  return [...containers, ...idle];
}
