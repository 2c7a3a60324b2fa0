import { join } from "node:path/posix";
import { insideTree, resourcesOf, servicesOf } from "../compose/mod.ts";
import type { ContainerDetails, ContainerMount } from "../docker/engine.ts";
import type { ContainerMounts } from "../docker/container_mounts.ts";
import {
  type DiscoveredStack,
  familiarName,
  isOurs,
  isStackwrightError,
  type Release,
  type ReleaseService,
  type StackKey,
} from "../model/mod.ts";
import { holdsSomethingSeen, type OldDataParts } from "./copy_old_data.ts";
import { fewAtOnce } from "./few_at_once.ts";
import { modelMounts, plainPath, sharesNothing } from "./moved_mounts.ts";
import { stackDirectories } from "./stack_files.ts";

/** Containers that are looked at: any number may have the name of a service. Those of the same repository come first. */
const MOST_LOOKED_AT = 20;
/** Old copies of a repository in which data is looked for, and places of it. */
const MOST_CHECKOUTS = 3;
const MOST_PLACES = 100;

/** A place of a service in which nothing is yet. */
export interface EmptyPlace {
  readonly service: string;
  readonly target: string;
  /** The path on the engine's host, or the name of the volume. */
  readonly place: string;
  readonly kind: "bind" | "volume";
}

/** The stacks that a configuration names, and those that it named before. */
export interface Neighbours {
  readonly named: readonly StackKey[];
  readonly unnamed: readonly DiscoveredStack[];
}

/** A sentence about a place of a service that begins empty, or with what another one writes to. */
export interface EmptyBeginning {
  readonly service: string;
  readonly text: string;
}

/** The volumes of some services that the deployment makes, on this machine and without options. */
export async function newVolumes(
  { host: { engine } }: Pick<OldDataParts, "host">,
  { model }: Pick<Release, "model">,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<EmptyPlace[]> {
  const own = new Set(
    resourcesOf(model, "volumes").filter(({ external, definition: { driver, driver_opts } }) =>
      !external && driver_opts === undefined && (driver ?? "local") === "local"
    ).map(({ name }) => name),
  );
  const places = [...names].flatMap((service) =>
    [...modelMounts(model, service)].flatMap(([target, { kind, source }]) =>
      kind === "volume" && own.has(source)
        ? [{ service, target, place: source, kind } as const]
        : []
    )
  );
  if (places.length === 0) return [];
  const found = await engine.findVolumes([...new Set(places.map(({ place }) => place))], signal);
  const there = new Set(found.map(({ name }) => name));
  return places.filter(({ place }) => !there.has(place));
}

/** The volumes and paths that some services write to, by whatever name others know them. */
export function sharedPlaces(
  { model }: Pick<Release, "model">,
  names: ReadonlySet<string>,
): EmptyPlace[] {
  return [...names].flatMap((service) =>
    [...modelMounts(model, service)].flatMap(([target, { kind, source, entry }]) =>
      (kind === "volume" || kind === "bind") && source !== "" && !sharesNothing(source) &&
        entry["read_only"] !== true
        ? [{ service, target, place: source, kind } as const]
        : []
    )
  );
}

/** What {@link dataElsewhere} is asked about. */
interface Asked {
  readonly places: readonly EmptyPlace[];
  /** What the services write to, whether it is empty or not. */
  readonly shared: readonly EmptyPlace[];
  readonly neighbours: Neighbours;
  /** The model of what is deployed. */
  before(): Release["model"] | undefined;
}

/** What is asked of a release. */
type OfRelease = Pick<Release, "key" | "services" | "revision" | "workingDir">;

/**
 * Where data is for some empty places: with containers of other projects, which Stackwright did not make or made
 * for a stack that nothing names any more, of a service with the same name and image; or at the path that the
 * place has in a copy of the repository that others of these were made in. A stack that is renamed, or a service
 * that goes to another one, leaves its data there. Of several, the likeliest are told of; those of stacks that the
 * configuration names are none. Tells also of such a container that writes to what a service is to write to. Only
 * services are looked at that `before` does not have. Nothing is refused for it: nobody can tell such a
 * service from a new one beside others like it.
 */
export async function dataElsewhere(
  parts: Pick<OldDataParts, "host" | "files">,
  release: OfRelease,
  { places, shared, neighbours, before }: Asked,
  signal: AbortSignal,
): Promise<EmptyBeginning[]> {
  if (places.length + shared.length === 0) return [];
  const known = servicesOf(before() ?? {});
  const isNew = ({ service }: EmptyPlace) => known[service] === undefined;
  const byService = Map.groupBy(places.filter(isNew), ({ service }) => service);
  const sharedBy = Map.groupBy(shared.filter(isNew), ({ service }) => service);
  if (byService.size + sharedBy.size === 0) return [];
  const { host: { engine } } = parts;
  // Nothing depends on the words: an engine with more containers than are read gets none.
  const all = await engine.containerMounts(signal).catch((thrown) => {
    if (!isStackwrightError(thrown, "engine_refused")) throw thrown;
    return [];
  });
  const { key, services } = release;
  const isHere = ({ context }: StackKey) => context === key.context;
  const named = new Set(neighbours.named.filter(isHere).map(({ name }) => name));
  const unnamed = new Map(
    neighbours.unnamed.filter((each) => isHere(each.key)).map((each) => [each.key.name, each]),
  );
  const wanted = new Map(services.map((each) => [each.name, each]));
  const alike = all.filter((each) => {
    const isAsked = byService.has(each.service) || sharedBy.has(each.service);
    const service = isAsked ? wanted.get(each.service) : undefined;
    if (service === undefined || each.project === key.name || named.has(each.project)) return false;
    const isLeft = unnamed.has(each.project) && each.deployment === each.project;
    return (each.deployment === "" || isLeft) && isAlike(each, service);
  });
  const near = alike.map((each) => ({
    ...each,
    distance: distance(each, release, unnamed.get(each.project)),
  })).toSorted((a, b) => a.distance - b.distance).slice(0, MOST_LOOKED_AT);
  const details = await fewAtOnce(near, (each) => engine.inspectContainer(each.id, signal));
  const found = details.flatMap((each, at) => {
    const { project = "", service = "", distance = 0, deployment = "" } = near[at] ?? {};
    if (each === undefined || (deployment === "") === isOurs(each.container)) return [];
    // What is removed in the same run, or the next one, writes to nothing then.
    const goes = unnamed.get(project)?.policy?.delete === true;
    const both = goes ? [] : sharedBy.get(service) ?? [];
    const of = { places: byService.get(service) ?? [], shared: both };
    return leftThere(project, each, of).map((told) => ({ ...told, distance }));
  });
  const old = await inOldCopies(parts, release, { all, places: [...byService.values()].flat() }, {
    signal,
  });
  return likeliest([...old, ...found]);
}

/** A sentence with how likely it is about the service. */
interface Found extends EmptyBeginning {
  /** What it is about. */
  readonly place: string;
  /** Where the data is: several containers may have it. */
  readonly source: string;
  /** The nearest is told. */
  readonly distance: number;
}

/** The nearest of what is said of each place, each source once. */
function likeliest(found: readonly Found[]): EmptyBeginning[] {
  const least = new Map<string, number>();
  for (const { place, distance } of found) {
    least.set(place, Math.min(distance, least.get(place) ?? distance));
  }
  const told = found.filter(({ place, distance }) => distance === least.get(place));
  const once = new Map(told.toReversed().map((each) => [`${each.place}\0${each.source}`, each]));
  return [...once.values()].toReversed().map(({ service, text }) => ({ service, text }));
}

/** How far a container is from a release: made from that directory, from the repository, from another, or by others. */
function distance(
  { peer, directory }: ContainerMounts,
  { revision: { source }, workingDir = "." }: OfRelease,
  unnamed: DiscoveredStack | undefined,
): number {
  if (unnamed !== undefined) return unnamed.directory === workingDir ? 0 : 1;
  if (isFrom(peer, source.name)) {
    return plainPath(directory).endsWith(join("/", source.name, workingDir)) ? 0 : 1;
  }
  return peer === "" ? 3 : 2;
}

/** Whether doco-cd made something from a repository, by the URL in its label. */
function isFrom(peer: string, repository: string): boolean {
  const name = peer.replace(/\.git$/, "").replace(/^.*@([^/:]*):/, "$1/")
    .replace(/:(\d+)\//, "_$1/");
  return name.endsWith(repository);
}

/** What lies at the paths of some places in the copies of the repository that doco-cd made containers in. */
async function inOldCopies(
  { host, files }: Pick<OldDataParts, "host" | "files">,
  { key, revision: { source: { name } } }: OfRelease,
  { all, places }: {
    readonly all: readonly ContainerMounts[];
    readonly places: readonly EmptyPlace[];
  },
  { signal }: { readonly signal: AbortSignal },
): Promise<Found[]> {
  const roots = new Map(
    all.flatMap((each) => {
      const at = `${plainPath(each.directory)}/`.indexOf(`/${name}/`);
      const isOne = each.deployment === "" && isFrom(each.peer, name) && at >= 0;
      return isOne ? [[each.directory.slice(0, at + name.length + 1), each.name] as const] : [];
    }),
  );
  const live = stackDirectories(host.dataDir, key).live;
  const found: Found[] = [];
  for (const { service, target, place, kind } of places.slice(0, MOST_PLACES)) {
    const path = kind === "bind" ? insideTree(place, live) : undefined;
    for (const [root, container] of [...roots].slice(0, MOST_CHECKOUTS)) {
      if (path === undefined) continue;
      const source = join(root, path);
      if (await holdsSomethingSeen({ files, host }, source, signal) !== true) continue;
      const text = `${target} begins empty: no container of ${key.name} is there, and what ` +
        `${source} holds stays there (in the copy of the repository that container ${container} ` +
        `was made in); if it is to go on with it, stop the stack and copy it to ${place}`;
      found.push({ service, text, source, place: `${service} ${target}`, distance: -1 });
    }
  }
  return found;
}

/** Whether a container of a project may be one of a service before the service or its stack was moved. */
function isAlike(
  { project, isOneOff, image, name }: ContainerMounts,
  { image: wanted, builds, name: service }: Pick<ReleaseService, "image" | "builds" | "name">,
): boolean {
  if (project === "" || isOneOff || name === "") return false;
  // The engine has an id for the name of an image that has gone to another one since.
  if (image.startsWith("sha256:") || repositoryOf(image) === repositoryOf(wanted)) return true;
  return builds && [`${project}-${service}`, `${project}_${service}`].includes(repositoryOf(image));
}

/** The name of an image without its tag and digest. */
function repositoryOf(image: string): string {
  return familiarName(image.split("@")[0] ?? "").replace(/:[^:/]*$/, "");
}

/** What is said of the places of a service where a container of another project has something. */
function leftThere(
  project: string,
  { container, mounts }: Pick<ContainerDetails, "container" | "mounts">,
  { places, shared }: Pick<Asked, "places" | "shared">,
): Omit<Found, "distance">[] {
  const { name, service, state } = container;
  const own = mounts.filter(({ kind, source, writable }) =>
    kind === "volume" || kind === "bind" && writable && !sharesNothing(source)
  );
  const has = new Map(own.map((each) => [plainPath(each.destination), each]));
  const who = isOurs(container)
    ? `container ${name} of stack ${project}, which nothing names any more,`
    : `container ${name} of project ${project}, which Stackwright did not make,`;
  const begins = places.flatMap((place) => {
    const mount = has.get(plainPath(place.target));
    if (mount === undefined || sourceOf(mount) === place.place) return [];
    const text =
      `${place.target} begins empty: ${who} has the same service and image; what it has there in ` +
      `${saidOf(mount)} stays there; if that is what this service was, and it is to go on with ` +
      `it, stop that container and ${howToTake(mount, place)}`;
    return [{ service, text, source: sourceOf(mount), place: `${service} ${place.target}` }];
  });
  const both = shared.flatMap(({ target, place }) => {
    const mount = own.find((each) => each.writable && sourceOf(each) === place);
    if (mount === undefined || state !== "running") return [];
    const text =
      `${target} is ${saidOf(mount)}, which ${who} has, too: both write to it; if that ` +
      `is what this service was, stop that container`;
    return [{ service, text, source: `${name} ${place}`, place: `${service} ${target} shared` }];
  });
  return [...begins, ...both];
}

function sourceOf({ kind, name, source }: ContainerMount): string {
  return kind === "volume" ? name : plainPath(source);
}

function saidOf(mount: ContainerMount): string {
  return `${mount.kind === "volume" ? "volume " : ""}${sourceOf(mount)}`;
}

/** How the data of a mount becomes that of a place, also once the stack runs. */
function howToTake(mount: ContainerMount, { kind, place }: EmptyPlace): string {
  if (kind === "bind") return `this stack, and copy it to ${place}`;
  return mount.kind === "volume"
    ? `name that volume in the compose file (external: true, name: ${mount.name})`
    : `mount that path`;
}
