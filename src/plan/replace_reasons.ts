import {
  imagesBeside,
  LABELS,
  missingNetworks,
  type ObservedContainer,
  own,
  type ReleaseService,
  shortId,
  wantedName,
} from "../model/mod.ts";
import { shouldRun } from "./should_run.ts";
import type { DecideInput } from "./decide_input.ts";

/** The reasons why containers of a service are replaced; none where they are as they should be. */
export function replaceReasons(
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
  const beside = movedBeside(service, input);
  if (beside.length > 0) return beside;
  // One that is not to run is left alone: replacing a job would do its work twice.
  const active = containers.filter(({ state }) => state === "running" || state === "paused");
  const gone = (name: string) => (network: string) =>
    `container ${name} is not in network ${network} any more`;
  return active.flatMap((each) => missingNetworks(service, each).map(gone(each.name)));
}

/** Images beside a service's own that are others now than those it ran with, where both are known. */
function movedBeside(service: ReleaseService, { images, ran = {} }: DecideInput): string[] {
  return imagesBeside(service).flatMap(({ name, image }) => {
    const [before, now] = [own(ran, name), own(images, name)];
    if (before === undefined || now === undefined || before === now) return [];
    return [
      `image ${image}, of a hook or mounted, moved from ${shortId(before)} to ${shortId(now)}`,
    ];
  });
}

/** Changes of the files that do not replace the container, and what is done about them. */
export function inPlaceReasons({ name, inPlace }: ReleaseService, input: DecideInput): string[] {
  if (inPlace === undefined) return [];
  const before = input.previous?.find((each) => each.name === name)?.inPlace?.files;
  const then = inPlace.signal === undefined
    ? "it is updated in place"
    : `it is updated in place, and ${inPlace.signal} is sent`;
  if (before === undefined) return [`nobody knows which files it was started with; ${then}`];
  const paths = [...new Set([...Object.keys(before), ...Object.keys(inPlace.files)])].sort();
  return told(paths.filter((path) => before[path] !== inPlace.files[path]), (path) => {
    const [old, wanted] = [shown(before[path]), shown(inPlace.files[path])];
    return `mounted ${path} changed from ${old} to ${wanted}; ${then}`;
  });
}

/** Names each input that differs from the release the container was made by. */
export function changedInputs(
  service: ReleaseService,
  container: Pick<ObservedContainer, "name" | "labels">,
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

/** Reasons that are told of a service: runs and a hundred decisions keep them, and it may mount thousands. */
const MOST_REASONS = 20;

/** The first of what changed, and how much more there is. */
function told(changed: readonly string[], describe: (name: string) => string): string[] {
  const more = changed.length - MOST_REASONS;
  const first = changed.slice(0, MOST_REASONS).map(describe);
  return more > 0 ? [...first, `${more} more of what it is made from changed`] : first;
}

function inputChanges(before: ReleaseService, after: ReleaseService): string[] {
  const names = [...new Set([...Object.keys(before.inputs), ...Object.keys(after.inputs)])].sort();
  // A mount that is new, of a path the repository does not have, is told by its definition.
  const value = ({ inputs }: ReleaseService, name: string) => inputs[name] ?? "absent";
  return told(names.filter((name) => value(before, name) !== value(after, name)), (name) => {
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

/** Changes that somebody made to a container and that are undone without replacing it. */
export function driftOf(service: ReleaseService, container: ObservedContainer): string[] {
  const wanted = wantedName(service, container);
  return [
    ...(shouldRun(service, container) ? [`container ${container.name} is ${container.state}`] : []),
    ...(wanted === undefined || wanted === container.name
      ? []
      : [`container ${container.name} was renamed from ${wanted}`]),
  ];
}
