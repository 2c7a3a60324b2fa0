import { resourcesOf, servicesOf } from "../compose/mod.ts";
import type { ContainerDetails, ContainerMount } from "../docker/engine.ts";
import type { ContainerMounts } from "../docker/container_mounts.ts";
import {
  familiarName,
  isOurs,
  isStackwrightError,
  type Release,
  type ReleaseService,
  type Revision,
} from "../model/mod.ts";
import type { OldDataParts } from "./copy_old_data.ts";
import { fewAtOnce } from "./few_at_once.ts";
import { modelMounts, plainPath, sharesNothing } from "./moved_mounts.ts";

/** Containers that are looked at: any number may have the name of a service. Those of the same repository come first. */
const MOST_LOOKED_AT = 20;

/** A place of a service in which nothing is yet. */
export interface EmptyPlace {
  readonly service: string;
  readonly target: string;
  /** The path on the engine's host, or the name of the volume. */
  readonly place: string;
  readonly kind: "bind" | "volume";
}

/** A sentence about a place of a service that begins empty. */
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

/**
 * Where containers of other projects, which Stackwright did not make, have data at some empty places: of a
 * service with the same name and image. A stack that is renamed, or a service that goes to another one, leaves
 * its data there. Only services are looked at that `before`, the model of what is deployed, does not have.
 * Nothing is refused for it: nobody can tell such a service from a new one beside others like it.
 */
export async function dataElsewhere(
  { host: { engine } }: Pick<OldDataParts, "host">,
  { key, services, revision }: Pick<Release, "key" | "services" | "revision">,
  { places, before }: {
    readonly places: readonly EmptyPlace[];
    before(): Release["model"] | undefined;
  },
  signal: AbortSignal,
): Promise<EmptyBeginning[]> {
  if (places.length === 0) return [];
  const known = servicesOf(before() ?? {});
  const byService = Map.groupBy(
    places.filter(({ service }) => known[service] === undefined),
    ({ service }) => service,
  );
  if (byService.size === 0) return [];
  // Nothing depends on the words: an engine with more containers than are read gets none.
  const all = await engine.containerMounts(signal).catch((thrown) => {
    if (!isStackwrightError(thrown, "engine_refused")) throw thrown;
    return [];
  });
  const wanted = new Map(services.map((each) => [each.name, each]));
  const alike = all.filter((each) => {
    const service = byService.has(each.service) ? wanted.get(each.service) : undefined;
    return service !== undefined && each.project !== key.name && isAlike(each, service);
  });
  const likely = alike.toSorted((a, b) => distance(a, revision) - distance(b, revision))
    .slice(0, MOST_LOOKED_AT);
  const details = await fewAtOnce(likely, (each) => engine.inspectContainer(each.id, signal));
  return details.flatMap((each, at) => {
    const { project = "", service = "" } = likely[at] ?? {};
    return each === undefined ? [] : leftThere(project, each, byService.get(service) ?? []);
  });
}

/** How far a container is from a repository: made by doco-cd from that one, from another one, or by somebody else. */
function distance({ peer }: ContainerMounts, { source }: Pick<Revision, "source">): number {
  if (peer === "") return 2;
  return peer.replace(/\.git$/, "").replace(/^.*@([^/:]*):/, "$1/").endsWith(source.name) ? 0 : 1;
}

/** Whether a container of a project may be one of a service before the service or its stack was moved. */
function isAlike(
  { project, deployment, isOneOff, image, name }: ContainerMounts,
  { image: wanted, builds, name: service }: Pick<ReleaseService, "image" | "builds" | "name">,
): boolean {
  if (project === "" || deployment !== "" || isOneOff || name === "") return false;
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
  places: readonly EmptyPlace[],
): EmptyBeginning[] {
  if (isOurs(container)) return [];
  const { name, service } = container;
  const has = new Map(
    mounts.filter(({ kind, source, writable }) =>
      kind === "volume" || kind === "bind" && writable && !sharesNothing(source)
    ).map((each) => [plainPath(each.destination), each]),
  );
  return places.flatMap((place) => {
    const mount = has.get(plainPath(place.target));
    if (mount === undefined || sourceOf(mount) === place.place) return [];
    const text =
      `${place.target} begins empty: container ${name} of project ${project} has the same service ` +
      `and image and was not made by Stackwright; what it has there in ${saidOf(mount)} stays ` +
      `there; if that is what this service was, and it is to go on with it, ${
        howToTake(mount, place)
      }`;
    return [{ service, text }];
  });
}

function sourceOf({ kind, name, source }: ContainerMount): string {
  return kind === "volume" ? name : source;
}

function saidOf(mount: ContainerMount): string {
  return `${mount.kind === "volume" ? "volume " : ""}${sourceOf(mount)}`;
}

function howToTake(mount: ContainerMount, { kind, place }: EmptyPlace): string {
  const first = "stop that container before, and";
  if (kind === "bind") return `${first} copy it to ${place}`;
  return mount.kind === "volume"
    ? `${first} name that volume in the compose file (external: true, name: ${mount.name})`
    : `${first} mount that path`;
}
