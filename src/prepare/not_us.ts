import { ownProjectError, ownProjects, STACK_LABELS } from "../deploy/mod.ts";
import { asText } from "../docker/json.ts";
import type { ContainerDetails, Engine } from "../docker/mod.ts";
import {
  COMPOSE_LABELS,
  errors,
  sharedContainer,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { Host } from "./host.ts";

/**
 * Refuses work on the project or stack that runs this process: anybody who can push to a source
 * could end the service that way, and a container cannot finish its own replacement.
 *
 * Throws `conflict`.
 */
export async function requireNotOwnProject(
  host: Pick<Host, "own">,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const own = await host.own(signal);
  if (own === undefined || !ownProjects(own).includes(key.name)) return;
  throw ownProjectError(own, `${key.name} is the project`);
}

/**
 * Why this process leaves a project or stack alone, as {@link requireNotOwnProject} says it; `undefined`
 * for all but its own.
 */
export async function whyOwnProject(
  ...[host, key, signal]: Parameters<typeof requireNotOwnProject>
): Promise<string | undefined> {
  const own = await host.own(signal);
  if (own === undefined || !ownProjects(own).includes(key.name)) return undefined;
  return `Stackwright itself runs in it (container ${own.container.name})`;
}

/**
 * Refuses a job that would stop this process, or what runs beside it in its project or stack, such as a
 * proxy to the engine: without that nobody could start either again.
 *
 * Throws `conflict`.
 */
export async function requireNotStopped(
  host: Pick<Host, "own">,
  stops: readonly { readonly project: string; readonly service: string }[],
  signal: AbortSignal,
): Promise<void> {
  if (stops.length === 0) return;
  const own = (await host.own(signal))?.container;
  if (own === undefined) return;
  const stack = own.labels[STACK_LABELS.namespace];
  const isOurs = ({ project, service }: { project: string; service: string }) =>
    own.labels[COMPOSE_LABELS.project] === project ||
    // The full name, since a stack's name may contain the separator as well.
    stack !== undefined && `${project}_${service}`.startsWith(`${stack}_`);
  const found = stops.find(isOurs);
  if (found === undefined) return;
  throw errors.conflict(
    `the job was not run: it stops ${found.project}/${found.service}, which belongs to the project that ` +
      `Stackwright itself runs in (container ${own.name}), and might not be started again; take that ` +
      "out of stop_services",
  );
}

/** A container whose namespaces something shares, as that calls it: by its name or the beginning of its id. */
interface SharedContainer {
  readonly stack: string;
  /** Words about what shares it. */
  readonly what: string;
  readonly container: string;
}

/**
 * Refuses to share namespaces with this process: its network carries secrets, and its processes
 * show their environments. Also by way of other containers that share one of them already.
 *
 * Throws `path_escapes`.
 */
export async function requireNotUs(
  host: Pick<Host, "own"> & { readonly engine: Pick<Engine, "inspectContainer"> },
  { stack, what, container }: SharedContainer,
  signal: AbortSignal,
): Promise<void> {
  const own = await host.own(signal);
  if (own === undefined) return;
  const us = own.container;
  const details = await host.engine.inspectContainer(container, signal);
  const asked = `${what}: the container ${container}`;
  if (mayName(container, us) && details?.container.id !== us.id) throw unclearName(stack, asked);
  for (const mode of details === undefined ? [] : NAMESPACE_MODES) {
    const theirs = await namespaceOwner(host.engine, details, mode, signal);
    // Of a container that joins none, the namespaces are its own.
    if (theirs !== us.id && theirs !== await namespaceOwner(host.engine, own, mode, signal)) {
      continue;
    }
    const isUs = details?.container.id === us.id;
    throw errors.path_escapes(
      `deployment ${stack}: ${asked} ${
        isUs ? "is Stackwright itself" : "shares namespaces with Stackwright itself"
      }, whose processes, network and environment no deployment may share`,
    );
  }
}

/** The settings of a container that make it share the namespaces of another one. */
export const NAMESPACE_MODES = ["NetworkMode", "PidMode", "IpcMode"] as const;

/** Containers that hand on one namespace, one after the other. */
const MOST_IN_A_ROW = 16;

/** Id of the container whose namespace a container has; the last one known where that is gone. */
async function namespaceOwner(
  engine: Pick<Engine, "inspectContainer">,
  details: ContainerDetails | undefined,
  mode: (typeof NAMESPACE_MODES)[number],
  signal: AbortSignal,
): Promise<string | undefined> {
  let at = details;
  for (let left = MOST_IN_A_ROW; at !== undefined && left > 0; left--) {
    const next = sharedContainer(asText(at.host?.[mode]));
    if (next === undefined) return at.container.id;
    at = await engine.inspectContainer(next, signal);
    if (at === undefined) return next;
  }
  return at?.container.id;
}

/**
 * Whether a name is a prefix of a container's id. The engine prefers another container that has it
 * as its name, but that one may be gone when the name is used.
 */
export function mayName(name: string, { id }: { readonly id: string }): boolean {
  return id.startsWith(name.toLowerCase());
}

/** The error for a name that {@link mayName} says may be this process's. */
export function unclearName(stack: string, which: string): StackwrightError {
  return errors.path_escapes(
    `deployment ${stack}: ${which} has a name that begins the id of Stackwright's own container, to which ` +
      "it leads when the other one is gone; give that another name",
  );
}
