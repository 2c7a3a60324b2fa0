import {
  isVitalAs,
  ownProjectError,
  STACK_LABELS,
  vitalContainers,
  vitalIn,
} from "../deploy/mod.ts";
import {
  type ContainerDetails,
  type Engine,
  NAMESPACE_MODES,
  namespaceLenders,
} from "../docker/mod.ts";
import { COMPOSE_LABELS, errors, type StackKey, type StackwrightError } from "../model/mod.ts";
import type { Host } from "./host.ts";

/**
 * Refuses work on the project or stack that runs this process, or of a container whose namespaces it has:
 * anybody who can push to a source could end the service or cut it off that way, and a container cannot
 * finish its own replacement.
 *
 * Throws `conflict`.
 */
export async function requireNotOwnProject(
  host: Pick<Host, "own">,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const own = await host.own(signal);
  if (own === undefined) return;
  const vital = vitalIn(own, key.name);
  if (vital !== undefined) throw ownProjectError(own, vital, `${key.name} is the project`);
}

/** Why this process leaves a project or stack alone, as {@link requireNotOwnProject} says; if it does. */
export async function whyOwnProject(
  ...[host, key, signal]: Parameters<typeof requireNotOwnProject>
): Promise<string | undefined> {
  const own = await host.own(signal);
  if (own === undefined) return undefined;
  const vital = vitalIn(own, key.name);
  if (vital === undefined) return undefined;
  const what = vital.id === own.container.id ? "runs in it" : "has the network or processes of it";
  return `Stackwright itself ${what} (container ${vital.name})`;
}

/**
 * Refuses a job that would stop this process, a container whose namespaces it has, or what runs beside
 * one of them in its project or stack, such as a proxy to the engine: nobody could start either again.
 *
 * Throws `conflict`.
 */
export async function requireNotStopped(
  host: Pick<Host, "own">,
  stops: readonly { readonly project: string; readonly service: string }[],
  signal: AbortSignal,
): Promise<void> {
  if (stops.length === 0) return;
  const own = await host.own(signal);
  if (own === undefined) return;
  for (const vital of vitalContainers(own)) {
    const stack = vital.labels[STACK_LABELS.namespace];
    const found = stops.find(({ project, service }) =>
      vital.labels[COMPOSE_LABELS.project] === project ||
      // The full name, since a stack's name may contain the separator as well.
      stack !== undefined && `${project}_${service}`.startsWith(`${stack}_`)
    );
    if (found === undefined) continue;
    throw errors.conflict(
      `the job was not run: it stops ${found.project}/${found.service}, which belongs to the project ` +
        `${isVitalAs(own, vital)}, and might not be started again; take that out of stop_services`,
    );
  }
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
  if (details === undefined) return;
  for (const mode of NAMESPACE_MODES) {
    const theirs = await namespaceOwner(host.engine, details, mode, signal);
    // Of a container that joins none, the namespaces are its own.
    if (theirs !== us.id && theirs !== await namespaceOwner(host.engine, own, mode, signal)) {
      continue;
    }
    const isUs = details.container.id === us.id;
    throw errors.path_escapes(
      `deployment ${stack}: ${asked} ${isUs ? "is" : "shares namespaces with"} Stackwright ` +
        "itself, whose processes, network and environment no deployment may share",
    );
  }
}

/** Id of the container whose namespace a container has; the last one known where that is gone. */
async function namespaceOwner(
  engine: Pick<Engine, "inspectContainer">,
  details: ContainerDetails,
  mode: (typeof NAMESPACE_MODES)[number],
  signal: AbortSignal,
): Promise<string> {
  const lenders = await namespaceLenders(engine, details, mode, signal);
  return lenders.at(-1)?.id ?? details.container.id;
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
