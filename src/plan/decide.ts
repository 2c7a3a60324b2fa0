import {
  LABELS,
  MANAGER,
  missingNetworks,
  type ObservedContainer,
  type ObservedStack,
  own,
  type Plan,
  type ReleaseService,
  type ServicePlan,
  shortId,
  wantedName,
  withFollowers,
} from "../model/mod.ts";

/** Input of a decision. Values only: the same input always gives the same plan. */
export interface DecideInput {
  readonly desired: readonly ReleaseService[];
  readonly observed: ObservedStack;
  /** The services of the release that was deployed last, to say what changed since. */
  readonly previous: readonly ReleaseService[] | undefined;
  readonly policy: {
    /** Replace every container although nothing changed. */
    readonly forceRecreate: boolean;
    /** Remove containers of services that are no longer in the model. */
    readonly removeOrphans: boolean;
  };
  /** Services whose containers a person asked to have replaced. */
  readonly asked?: readonly string[];
  /**
   * The services of a release that failed and is taken back: containers of those that it added go,
   * whatever the policy says about orphans.
   */
  readonly takenBack?: readonly ReleaseService[];
  /**
   * Image each service would run if it were replaced now, by service; only of services whose image
   * may move under the same name.
   */
  readonly images: Readonly<Record<string, string>>;
}

/**
 * Decides what to do to every service so that the engine matches the release, and why. Containers
 * are judged by our own digest label alone: compose's hash means different things in different
 * versions.
 */
export function decide(asked: DecideInput): Plan {
  const input = { ...asked, observed: inOrder(asked.observed) };
  const own = input.desired.map((service) => decideService(service, input));
  const desired = withFollowers(own, input.desired, input.observed);
  const services = [...desired, ...decideOrphans(input)];
  const changes = services.filter((each) => each.action !== "keep");
  // A container that nobody of ours made is no drift; it goes when a release is rolled out anyway.
  const reasons = changes.filter((each) => each.action !== "remove" || isOurs(each.name, input));
  if (reasons.length === 0) {
    const kept = services.map((each) => each.action === "remove" ? keepForeign(each) : each);
    return { kind: "skip", reason: "no_changes", message: "no changes", services: kept };
  }
  return { kind: "deploy", message: summarise(changes), services };
}

/** A plan's changes as one line: `recreate web; create worker`. */
export function summarise(changes: readonly ServicePlan[]): string {
  const byAction = new Map<string, string[]>();
  for (const { action, name } of changes.filter((each) => each.action !== "keep")) {
    byAction.set(action, [...(byAction.get(action) ?? []), name]);
  }
  return [...byAction].map(([action, names]) => `${action} ${names.join(", ")}`).join("; ");
}

/** Engines list containers in any order; a decision and its reasons must not depend on it. */
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
      ? plan("keep", "the release wants no container")
      : plan("scale", `the release wants no container, ${containers.length} exist`);
  }
  if (containers.length === 0) return plan("create", missingReason(service, input));
  const outdated = replaceReasons(service, containers, input);
  if (outdated.length > 0) return plan("recreate", ...outdated);
  const inPlace = inPlaceReasons(service, input);
  // Of containers that are missing or stopped nobody could say which content they have seen.
  const strayed = containers.flatMap((each) => driftOf(service, each));
  if (inPlace.length > 0) {
    const complete = containers.length === expectation.replicas && strayed.length === 0;
    return plan(complete ? "reload" : "recreate", ...inPlace);
  }
  if (containers.length !== expectation.replicas) {
    return plan("scale", `${containers.length} of ${expectation.replicas} containers exist`);
  }
  if (strayed.length > 0) return plan("start", ...strayed);
  return plan("keep", `digest ${shortId(service.digest)} is unchanged`);
}

function missingReason(service: ReleaseService, input: DecideInput): string {
  const known = input.previous?.some((each) => each.name === service.name);
  if (input.previous === undefined) return "first deployment";
  return known ? "its container is missing" : "the service is new in this release";
}

function replaceReasons(
  service: ReleaseService,
  containers: readonly ObservedContainer[],
  input: DecideInput,
): string[] {
  const outdated = containers.find((each) => each.labels[LABELS.digest] !== service.digest);
  if (outdated !== undefined) return changedInputs(service, outdated, input);
  if (input.asked?.includes(service.name)) return ["a person asked for it"];
  if (input.policy.forceRecreate) return ["force_recreate is set"];
  const image = own(input.images, service.name);
  const old = containers.find((each) => image !== undefined && each.imageId !== image);
  if (old !== undefined && image !== undefined) {
    return [`image ${service.image} moved from ${shortId(old.imageId)} to ${shortId(image)}`];
  }
  // One that is not to run is left alone: replacing a job would do its work twice.
  return containers.filter(({ state }) => state === "running" || state === "paused").flatMap((
    each,
  ) =>
    missingNetworks(service, each).map((network) =>
      `container ${each.name} is not in network ${network} any more`
    )
  );
}

/** What changed of the files that do not replace the container, and what is done about it. */
function inPlaceReasons({ name, inPlace }: ReleaseService, input: DecideInput): string[] {
  if (inPlace === undefined) return [];
  const before = input.previous?.find((each) => each.name === name)?.inPlace?.files;
  const then = inPlace.signal === undefined
    ? "it is updated in place"
    : `it is updated in place, and ${inPlace.signal} is sent`;
  if (before === undefined) return [`nobody knows which files it was started with; ${then}`];
  const paths = [...new Set([...Object.keys(before), ...Object.keys(inPlace.files)])].sort();
  return paths.filter((path) => before[path] !== inPlace.files[path]).map((path) => {
    const [old, wanted] = [shown(before[path]), shown(inPlace.files[path])];
    return `mounted ${path} changed from ${old} to ${wanted}; ${then}`;
  });
}

/** Names each input that differs from the release the container was made by. */
function changedInputs(
  service: ReleaseService,
  container: ObservedContainer,
  input: DecideInput,
): string[] {
  const label = container.labels[LABELS.digest];
  if (label === undefined) return [`container ${container.name} was not made by Stackwright`];
  const before = input.previous?.find((each) => each.name === service.name);
  const changes = before?.digest === label ? inputChanges(before, service) : [];
  // A digest that differs must lead to a replacement, also when nobody can say what changed it.
  if (changes.length > 0) return changes;
  const [old, wanted] = [shortId(label), shortId(service.digest)];
  return [`container ${container.name} has digest ${old}, the release ${wanted}`];
}

function inputChanges(before: ReleaseService, after: ReleaseService): string[] {
  const names = [...new Set([...Object.keys(before.inputs), ...Object.keys(after.inputs)])].sort();
  return names.filter((name) => before.inputs[name] !== after.inputs[name]).map((name) => {
    const [old, wanted] = [shown(before.inputs[name]), shown(after.inputs[name])];
    return `${describeInput(name)} changed from ${old} to ${wanted}`;
  });
}

function describeInput(name: string): string {
  const [kind, ...rest] = name.split(":");
  const subject = rest.join(":");
  if (kind === "file") return `mounted ${subject}`;
  if (kind === "build") return `build input ${subject}`;
  if (kind === "follows") return `the service ${subject} it shares with`;
  if (kind === "build_arguments") return "its build arguments";
  if (kind === "variable") return `the variable ${subject}`;
  if (kind === "variables") return "the variables its secrets come from";
  return "its definition";
}

function shown(digest: string | undefined): string {
  if (digest === undefined || digest === "absent") return "nothing";
  return shortId(digest.replace(/^[a-z]+:/, ""));
}

/** What somebody did to a container that is to be undone, without replacing it. */
function driftOf(service: ReleaseService, container: ObservedContainer): string[] {
  const wanted = wantedName(service, container);
  return [
    ...(shouldRun(service, container) ? [`container ${container.name} is ${container.state}`] : []),
    ...(wanted === undefined || wanted === container.name
      ? []
      : [`container ${container.name} was renamed from ${wanted}`]),
  ];
}

/** Whether a container that does not run should; one that ended as it may is no drift. */
export function shouldRun(service: ReleaseService, container: ObservedContainer): boolean {
  const { restarts, autostart } = service.expectation;
  if (!autostart) return false;
  if (container.state === "created" || container.state === "paused") return true;
  if (container.state !== "exited" && container.state !== "dead") return false;
  // What may end has done so with 0. Any other code says that it failed, was killed, or that the
  // host went down: without a restart policy the engine does not start it again.
  return restarts || container.exitCode !== 0;
}

function decideOrphans(input: DecideInput): ServicePlan[] {
  const desired = new Set(input.desired.map((each) => each.name));
  const all = everything(input.observed);
  const surplus = all.filter((each) => !desired.has(each.service));
  if (!input.policy.removeOrphans) return takenBack(surplus, input.takenBack ?? []);
  const orphans = new Set(surplus.map((each) => each.service));
  // A stack that nobody managed is adopted as it is: what its owner left there stays this time.
  if (input.previous === undefined && !all.some(isManaged)) {
    return [...orphans].map((name) => keepForeign({ name, action: "remove", because: [] }));
  }
  return [...orphans].sort().map((name) => ({
    name,
    action: "remove" as const,
    because: ["the service is no longer in the compose files"],
  }));
}

/** Services that a release had added which failed; an orphan of before has another digest. */
function takenBack(
  surplus: readonly Pick<ObservedContainer, "service" | "labels">[],
  services: readonly ReleaseService[],
): ServicePlan[] {
  const made = services.filter(({ name, digest }) =>
    surplus.some((each) => each.service === name && each.labels[LABELS.digest] === digest)
  );
  return made.map(({ name }) => ({
    name,
    action: "remove" as const,
    because: ["the release that failed had added it"],
  }));
}

function keepForeign(plan: ServicePlan): ServicePlan {
  return {
    name: plan.name,
    action: "keep",
    because: ["not in the compose files, and not made by Stackwright: kept"],
  };
}

/** What there is of a stack, of which there may be several for a service. */
function everything({ containers, idle = [] }: ObservedStack) {
  return [...containers, ...idle];
}

function isOurs(service: string, input: DecideInput): boolean {
  return everything(input.observed).some((each) => each.service === service && isManaged(each));
}

function isManaged({ labels }: Pick<ObservedContainer, "labels">): boolean {
  return labels[LABELS.manager] === MANAGER;
}
