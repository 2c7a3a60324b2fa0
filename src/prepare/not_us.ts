import { STACK_LABELS } from "../deploy/mod.ts";
import type { Engine } from "../docker/mod.ts";
import { COMPOSE_LABELS, errors, type StackKey, type StackwrightError } from "../model/mod.ts";
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
  const own = (await host.own(signal))?.container;
  if (own === undefined) return;
  const names = [own.labels[COMPOSE_LABELS.project], own.labels[STACK_LABELS.namespace]];
  if (!names.includes(key.name)) return;
  throw errors.conflict(
    `${key.name} is the project that Stackwright itself runs in (container ${own.name}), which it ` +
      "does not change; nothing was done. Choose another name, or change that project by hand, as " +
      "with `docker compose up` on its host",
  );
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
 * show their environments.
 *
 * Throws `path_escapes`.
 */
export async function requireNotUs(
  host: Pick<Host, "own"> & { readonly engine: Pick<Engine, "inspectContainer"> },
  { stack, what, container }: SharedContainer,
  signal: AbortSignal,
): Promise<void> {
  const us = (await host.own(signal))?.container;
  if (us === undefined) return;
  const details = await host.engine.inspectContainer(container, signal);
  if (details?.container.id === us.id) {
    throw errors.path_escapes(
      `deployment ${stack}: ${what}: the container ${container} is Stackwright itself, whose ` +
        "processes, network and environment no deployment may share",
    );
  }
  if (mayName(container, us)) throw unclearName(stack, `${what}: the container ${container}`);
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
