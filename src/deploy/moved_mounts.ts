import { join } from "node:path";
import {
  insideTree,
  type JsonObject,
  objectsAt,
  plainDollars,
  resourceName,
  serviceOf,
  servicesOf,
  textAt,
} from "../compose/mod.ts";
import type { ContainerMount, Engine } from "../docker/engine.ts";
import {
  clip,
  type ComposeModel,
  fewOf,
  isOurs,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
} from "../model/mod.ts";
import { fewAtOnce } from "./few_at_once.ts";

/** Mounts that are told of one service: an author may have any number. */
const MOST_TOLD = 20;
/** Names that the engine gives to volumes which nobody named. */
const UNNAMED = /^[0-9a-f]{64}$/;

/** A mount of a rendered model, with the name that its volume has on the engine. */
export interface ModelMount {
  readonly kind: string;
  /** Name of a volume, path of a bind; empty for an anonymous volume. */
  readonly source: string;
  /** The mount as compose prints it. */
  readonly entry: JsonObject;
}

/** The mounts of a service in a rendered model, by their targets. */
export function modelMounts(model: ComposeModel, service: string): Map<string, ModelMount> {
  return new Map(
    objectsAt(serviceOf(model, service), "volumes").map((entry) => {
      const kind = textAt(entry, "type");
      const written = plainDollars(textAt(entry, "source"));
      const isNamed = kind === "volume" && written !== "";
      const source = isNamed ? plainDollars(resourceName(model, "volumes", written)) : written;
      const target = plainPath(plainDollars(textAt(entry, "target")));
      return [target, { kind, source, entry }];
    }),
  );
}

/** Whether a container's mount is what the model mounts there: compose hands on what nobody named. */
export function isSameMount(mount: ContainerMount, to: ModelMount): boolean {
  if (mount.kind !== to.kind) return false;
  if (mount.kind === "bind") return plainPath(mount.source) === plainPath(to.source);
  return to.source === "" ? isUnnamed(mount) : mount.name === to.source;
}

/** Whether a container's mount is a volume that nobody named. */
export function isUnnamed({ kind, name }: ContainerMount): boolean {
  return kind === "volume" && UNNAMED.test(name);
}

/** Whether what is at a path is no data that programs write: sockets, the kernel's files, the time. */
export function sharesNothing(path: string): boolean {
  return /^\/(?:(?:var\/)?run|dev|proc|sys)(?:\/|$)|\.sock$|^\/etc\/(?:localtime|timezone)$/.test(
    path,
  );
}

/** A path without what means nothing in it, such as a final slash. */
export function plainPath(path: string): string {
  return join("/", path, ".").replace(/(.)\/$/, "$1");
}

/**
 * Adds to a plan where the successor of a container that Stackwright did not make mounts something else
 * than it: a service that starts on an empty volume looks like data loss. So does what nothing mounts any more
 * when such a container is removed. Left out is what the release
 * has in its own directories, `stack`, of which {@link withOldData} tells.
 */
export async function withMovedMounts(
  engine: Pick<Engine, "inspectContainer">,
  { model, stack }: { readonly model: ComposeModel; readonly stack: string },
  { containers }: ObservedStack,
  plan: Plan,
  signal: AbortSignal,
): Promise<Plan> {
  if (plan.kind !== "deploy" || containers.every(isOurs)) return plan;
  const others = othersByService(containers);
  const places: string[] = [];
  const used = plan.services.some(({ action }) => action === "remove")
    ? mountedBy(model)
    : new Set();
  const services = await fewAtOnce(plan.services, async (each) => {
    const old = others.get(each.name);
    const goes = each.action === "remove";
    if (!goes && each.action !== "recreate" || old === undefined) return each;
    const { mounts: all = [] } = await engine.inspectContainer(old.id, signal) ?? {};
    const mounts = goes
      ? all.filter(({ kind, name, source }) =>
        !used.has(kind === "bind" ? plainPath(source) : name)
      )
      : all;
    const to = modelMounts(model, each.name);
    const leaves = serviceOf(model, each.name)["volumes_from"] === undefined;
    const moved = mounts.flatMap((mount) => movedMount(mount, { to, stack, leaves })).sort();
    const becomes = moved.filter((text) => !text.endsWith(DROPPED));
    if (becomes.length > 0) places.push(`${each.name} (${placesOf(becomes)})`);
    const more = moved.length > MOST_TOLD ? [`${moved.length - MOST_TOLD} more such mounts`] : [];
    return { ...each, because: [...each.because, ...moved.slice(0, MOST_TOLD), ...more] };
  });
  const said = places.length === 0 ? "" : `; ${fewOf(places.sort())} with other data`;
  return { ...plan, message: plan.message + said, services };
}

/** End of what is said of a mount that nothing takes the place of. */
const DROPPED = "is not mounted any more; what it holds stays there";

/** Places of a service that its deployment's message names; its reasons have more. */
const MOST_PLACES = 3;

/** The places that sentences of {@link movedMount} begin with. */
function placesOf(moved: readonly string[]): string {
  const first = moved.slice(0, MOST_PLACES).map((each) => each.slice(0, each.indexOf(": ")));
  return clip(first.join(", "), 100) + (moved.length > MOST_PLACES ? " and more" : "");
}

/** What the services of a model mount, wherever: names of volumes, and paths. */
function mountedBy(model: ComposeModel): ReadonlySet<string> {
  const mounts = Object.keys(servicesOf(model)).flatMap((
    name,
  ) => [...modelMounts(model, name).values()]);
  return new Set(mounts.map(({ kind, source }) => kind === "bind" ? plainPath(source) : source));
}

/** The first container of each service that Stackwright did not make. */
export function othersByService(containers: readonly ObservedContainer[]) {
  return new Map(
    containers.filter((each) => !isOurs(each)).toReversed().map((each) => [each.service, each]),
  );
}

/** What becomes of a mount, as a sentence; none where its source stays. */
function movedMount(
  mount: ContainerMount,
  { to: mounts, stack, leaves }: {
    readonly to: ReadonlyMap<string, ModelMount>;
    readonly stack: string;
    /** Whether a mount that is not in `to` is none any more. */
    readonly leaves: boolean;
  },
): string[] {
  const at = plainPath(mount.destination);
  const to = mounts.get(at);
  if (mount.kind === "other" || to !== undefined && isSameMount(mount, to)) return [];
  const from = mount.kind === "bind" ? mount.source : `volume ${mount.name}`;
  if (to === undefined) {
    // Read-only, it may be a config or a secret; and the image may declare what has no name.
    const isData = mount.kind === "bind"
      ? mount.writable && !sharesNothing(mount.source)
      : !isUnnamed(mount);
    return leaves && isData ? [`${at}: ${from} ${DROPPED}`] : [];
  }
  const isBrought = mount.kind === "bind" && to.kind === "bind" &&
    insideTree(to.source, stack) !== undefined;
  if (isBrought) return [];
  return [`${at}: ${from} becomes ${saidOf(to)}; what the first holds stays there`];
}

/** A mount in words. */
export function saidOf({ kind, source }: ModelMount): string {
  if (kind === "bind") return source;
  if (kind !== "volume") return `a mount of type ${kind}`;
  return source === "" ? "a new volume without a name" : source;
}
