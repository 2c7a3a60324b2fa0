import {
  imagesBeside,
  LABELS,
  missingNetworks,
  type ObservedContainer,
  own,
  type ReleaseService,
  type ServicePlan,
  shortId,
  wantedName,
} from "../model/mod.ts";
import { shouldRun } from "./should_run.ts";
import type { DecideInput } from "./decide_input.ts";

/** Reasons to replace the containers of a service; empty where none has to be replaced. */
export function replaceReasons(
  service: ReleaseService,
  containers: readonly ObservedContainer[],
  input: DecideInput,
): string[] {
  const outdated = containers.find((each) => each.labels[LABELS.digest] !== service.digest);
  if (outdated !== undefined) return changedInputs(service, outdated, input);
  if (input.asked?.includes(service.name)) return ["a person asked for it"];
  if (input.policy.forced !== undefined) return [input.policy.forced];
  const isLeft = input.previous?.every(({ name }) => name !== service.name) === true;
  const strayed = containers.flatMap((each) => driftOf(service, each));
  // An orphan that was stopped for good lost its restart policy then.
  if (isLeft && input.takenBack === undefined && strayed.length > 0) return strayed;
  const image = own(input.images, service.name);
  const old = containers.find((each) => image !== undefined && each.imageId !== image);
  if (old !== undefined && image !== undefined) {
    return [`image ${service.image} moved from ${shortId(old.imageId)} to ${shortId(image)}`];
  }
  const beside = movedBeside(service, input);
  if (beside.length > 0) return beside;
  // Containers that do not run are left alone: replacing a finished job would run it twice.
  const active = containers.filter(({ state }) => state === "running" || state === "paused");
  const left: string[] = [];
  for (const each of active) {
    if (left.length > MOST_REASONS) break;
    const gone = (network: string) =>
      `container ${each.name} is not in network ${network} any more`;
    left.push(...missingNetworks(service, each).map(gone));
  }
  return left;
}

/** Side images that have moved since the service was deployed, where both ids are known. */
function movedBeside(service: ReleaseService, { images, ran = {} }: DecideInput): string[] {
  return imagesBeside(service).flatMap(({ name, image }) => {
    const [before, now] = [own(ran, name), own(images, name)];
    if (before === undefined || now === undefined || before === now) return [];
    return [
      `image ${image}, of a hook or mounted, moved from ${shortId(before)} to ${shortId(now)}`,
    ];
  });
}

/** Reasons to reload a service: changes of files that do not replace its container. */
export function inPlaceReasons({ name, inPlace }: ReleaseService, input: DecideInput): string[] {
  if (inPlace === undefined) return [];
  const before = input.previous?.find((each) => each.name === name)?.inPlace?.files;
  const then = inPlace.signal === undefined
    ? "it is updated in place"
    : `it is updated in place, and ${inPlace.signal} is sent`;
  if (before === undefined) return [`nobody knows which files it was started with; ${then}`];
  const paths = [...new Set([...Object.keys(before), ...Object.keys(inPlace.files)])].sort();
  return told(paths.filter((path) => before[path] !== inPlace.files[path]), (path) => {
    return `mounted ${path} ${changeOf(before[path], inPlace.files[path])}; ${then}`;
  });
}

/** Names each input that differs from the release that a container was made from. */
export function changedInputs(
  service: ReleaseService,
  container: Pick<ObservedContainer, "name" | "labels">,
  input: DecideInput,
): string[] {
  const label = container.labels[LABELS.digest];
  if (label === undefined) return [`container ${container.name} was not made by Stackwright`];
  const before = input.previous?.find((each) => each.name === service.name);
  const changes = before?.digest === label ? inputChanges(before, service) : [];
  // A different digest must lead to a replacement, even if no input tells the difference.
  if (changes.length > 0) return changes;
  return [`container ${container.name} was made from something else than the release`];
}

/** Reasons kept of a service: runs and decisions store them, and mounts may be thousands. */
const MOST_REASONS = 20;

/** Plans with the first reasons for each service, and the number of the others: a service may have any containers. */
export function withFewReasons(plans: readonly ServicePlan[]): ServicePlan[] {
  return plans.map((each) => {
    const more = each.because.length - MOST_REASONS;
    if (more <= 1) return each;
    return { ...each, because: [...each.because.slice(0, MOST_REASONS), `${more} more reasons`] };
  });
}

/** Describes the first changes and counts the rest. */
function told(changed: readonly string[], describe: (name: string) => string): string[] {
  const more = changed.length - MOST_REASONS;
  const first = changed.slice(0, MOST_REASONS).map(describe);
  return more > 0 ? [...first, `${more} more of what it is made from changed`] : first;
}

function inputChanges(before: ReleaseService, after: ReleaseService): string[] {
  const names = [...new Set([...Object.keys(before.inputs), ...Object.keys(after.inputs)])].sort();
  // A new mount of a path that the repository lacks shows in the definition instead.
  const value = ({ inputs }: ReleaseService, name: string) => inputs[name] ?? "absent";
  return told(names.filter((name) => value(before, name) !== value(after, name)), (name) => {
    return `${describeInput(name)} ${changeOf(before.inputs[name], after.inputs[name])}`;
  });
}

function describeInput(name: string): string {
  const [kind, ...rest] = name.split(":");
  const subject = rest.join(":");
  if (kind === "file") return `mounted ${subject}`;
  if (kind === "build") return `build input ${subject}`;
  if (kind === "built") return `the build of ${subject}, which its own takes,`;
  if (kind === "image") return `the image ${rest.slice(1).join(":")} that ${rest[0]} builds`;
  if (kind === "build_secrets") return "the definition of a secret of its build";
  if (kind === "follows") return `the service ${subject} it shares with`;
  if (kind === "build_arguments") return "its build arguments";
  if (kind === "variable") return `the variable ${subject}`;
  if (kind === "variables") return "the variables its secrets come from";
  return "its definition";
}

/** What happened to an input, without digests: those would tell of equal values in other stacks. */
function changeOf(before = "absent", after = "absent"): string {
  return before === "absent" ? "is new" : after === "absent" ? "is gone" : "changed";
}

/** Changes of a container by hand that can be undone without replacing it. */
export function driftOf(service: ReleaseService, container: ObservedContainer): string[] {
  const wanted = wantedName(service, container);
  return [
    ...(shouldRun(service, container) ? [`container ${container.name} is ${container.state}`] : []),
    ...(wanted === undefined || wanted === container.name
      ? []
      : [`container ${container.name} was renamed from ${wanted}`]),
  ];
}
