import { isOneOff } from "../docker/containers.ts";
import type { ContainerSummary, Engine, EngineClient } from "../docker/mod.ts";
import {
  COMPOSE_LABELS,
  isJobService,
  type ObservedContainer,
  type ObservedStack,
  requestError,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { type Destroy, destroyStack, type RemovedData } from "./destroy.ts";
import { inOrder } from "../compose/mod.ts";
import { inServiceOrder } from "./in_service_order.ts";
import { requireFew } from "./observe.ts";
import { clearHalfReplaced, isHalfReplaced } from "./compose/half_replaced.ts";
import { dependenciesInLabels, serviceFromContainers } from "./compose/foreign_service.ts";
import { waitHealthy } from "./wait_healthy.ts";
import { startAll, startedRest, stopAll } from "./start_and_stop.ts";
import { type LockParts, type ProjectAction, withinLock } from "./within_lock.ts";

/** One compose project of an engine, whoever made it. */
export interface ProjectSummary {
  readonly name: string;
  /** States of its containers, counted: `exited(1), running(2)`. */
  readonly status: string;
  /** Compose files in its containers' labels; empty when the model was piped to compose. */
  readonly configFiles: string;
}

/** Things to remove of a project besides its containers and networks. */
interface ProjectRemoval {
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
}

/** What an action on a project left. */
export interface Controlled {
  /** Whether nothing of it is deployed until it is started again. */
  readonly isHeld: boolean;
  /** Whether it had no container. */
  readonly isMissing: boolean;
  /** Services that were not started, since the release does not have them. */
  readonly left: readonly string[];
}

type Held = readonly string[] | undefined | "moved";

/** Calls of the engine that projects need. */
export type ProjectEngine =
  & Engine
  & Pick<EngineClient, "describeContainers">;

interface ProjectParts extends LockParts {
  /** The engine of a context. Throws `bad_request` for an unknown context. */
  readonly engine: (context: string) => Promise<ProjectEngine>;
  /** Milliseconds that a container without a health check is watched (`DEPLOY_WATCH`). */
  readonly watchMs: number;
  /**
   * Destroys a project that the ledger knows, and returns what became of its data;
   * `undefined` for a project that the ledger does not know, and for a stack of a swarm.
   */
  readonly destroyRecorded: (
    key: StackKey,
    what: ProjectRemoval,
    signal: AbortSignal,
  ) => Promise<RemovedData | undefined>;
  /** Throws `conflict` for the project that this process runs in. */
  readonly requireNotOurs: (key: StackKey, signal: AbortSignal) => Promise<void>;
  /** Whether the ledger knows a swarm stack by that name, which then owns named volumes. */
  readonly isStack: (key: StackKey) => boolean;
  /**
   * Sets a hold on a stack that the ledger knows when it is stopped; {@link started} lifts it. Returns the
   * orphans of its release, by service, that did not run before it was stopped and stay so; `undefined` for a
   * project that is not ours, or a swarm's and has no container, and `moved` where its mark is not `since` any
   * more. Throws `conflict` to a start where the last change was cut off, unless the stack was stopped since.
   */
  readonly hold: (
    key: StackKey,
    action: ProjectAction,
    observed: ObservedStack,
    since: string,
    signal: AbortSignal,
  ) => Promise<Held> | Held;
  /** Ends the hold of a stack that is started. A start that was cut off leaves it stopped: nobody else would start the rest. */
  readonly started: (key: StackKey) => void;
  /**
   * Makes the containers of a stack that the ledger knows anew from its release: those of one
   * service, or all. Throws `conflict` where the release is not available, `not_found` for an
   * unknown service; `moved` where another process changed the stack meanwhile.
   */
  readonly recreateRecorded: (
    key: StackKey,
    service: string | undefined,
    signal: AbortSignal,
  ) => Promise<"done" | "moved">;
  /** Images that other stacks than `key` need although no container uses them. */
  readonly keptImages: (
    key: StackKey,
    signal: AbortSignal,
  ) => Promise<NonNullable<Destroy["keptImages"]>>;
  /** Why things of `key` that no release of it tells of stay: releases of other stacks define or name them. */
  readonly keptNames: (key: StackKey) => Promise<NonNullable<Destroy["whyKept"]>>;
}

/**
 * The compose projects of the engines, whether Stackwright deployed them or not. Every change holds
 * the lock of the stack, so it never meets a deployment.
 */
export class Projects {
  readonly #parts: ProjectParts;

  constructor(parts: ProjectParts) {
    this.#parts = parts;
  }

  /** Every project, sorted by name; without `all` only those that have a running container. */
  async list(
    { all, context }: { readonly all: boolean; readonly context: string },
    signal: AbortSignal,
  ): Promise<ProjectSummary[]> {
    const engine = await this.#parts.engine(context);
    const containers = await containersOf(engine, { [COMPOSE_LABELS.project]: undefined }, signal);
    const projects = Map.groupBy(containers, (each) => each.labels[COMPOSE_LABELS.project] ?? "");
    return [...projects].filter(([, own]) => all || own.some((each) => each.state === "running"))
      .map(([name, own]) => ({ name, status: statusOf(own), configFiles: configFilesOf(own) }))
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** The containers of a project, sorted by name. Throws `not_found`, and `engine_refused` for too many. */
  async describe(key: StackKey, signal: AbortSignal): Promise<ContainerSummary[]> {
    const found = await this.#find(key, signal);
    if (found.length === 0) throw unknownProject();
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  async #find(key: StackKey, signal: AbortSignal): Promise<ContainerSummary[]> {
    const engine = await this.#parts.engine(key.context);
    const found = await containersOf(engine, { [COMPOSE_LABELS.project]: key.name }, signal);
    requireFew(key, { containers: found });
    return found;
  }

  /**
   * Starts, stops or restarts a project; services that are scheduled jobs are only ever stopped. Starting waits
   * until all is healthy. Repeating an action changes nothing. A stack of ours that is stopped is held until it
   * is started: nothing is deployed or repaired meanwhile. An orphan of its release that did not run before stays
   * so: an adoption stopped it for good, maybe. What was made to replace a container, and never did, is not
   * started: both would write to one volume. A start that is cut off leaves it held. One in which the engine
   * refuses to start some of the containers does not: what repairs them would never be deployed. Nor does one
   * that finds no container of a stack of ours any more: who prunes stopped containers takes them.
   *
   * Throws `not_found`, `conflict` where a change was cut off, `unhealthy`, `timeout` where it waits so long
   * for its turn, or then for health, and what the engine throws.
   */
  async control(
    key: StackKey,
    { action, timeoutSeconds }: { readonly action: ProjectAction; readonly timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<Controlled> {
    const ready = async (waiting: AbortSignal) => {
      if (action === "stop") await this.#parts.requireNotOurs(key, waiting);
      return ordered(await this.#find(key, waiting));
    };
    const bounded = { key, what: "project", timeoutSeconds, isFirst: action === "stop", ready };
    return await withinLock(this.#parts, bounded, async (within, containers, since) => {
      const idle = await this.#parts.hold(key, action, { containers }, since, within);
      if (idle === "moved") return idle;
      if (idle === undefined && containers.length === 0) throw unknownProject();
      await this.#parts.told(key, action, async (owned) => {
        const engine = await this.#parts.engine(key.context);
        // Of a stop, half would be nothing: it holds the stack whoever has it.
        if (action === "stop") return await stopAll(engine, containers.toReversed(), within);
        const whole = containers.filter((each) => !isHalfReplaced(each));
        const cleared = idle !== undefined && whole.length < containers.length
          ? ordered((await clearHalfReplaced(engine, key, owned)).containers)
          : whole;
        const startable = cleared.filter(({ labels, service }) =>
          !isJobService(labels) && !idle?.includes(service)
        );
        const refused = await startAll(engine, startable, action, owned);
        if (idle !== undefined) this.#parts.started(key);
        if (refused !== undefined) throw idle === undefined ? refused : startedRest(key, refused);
        await this.#waitHealthy(key, startable, timeoutSeconds, owned);
      }, within);
      const isMissing = containers.length === 0;
      return action === "stop"
        ? { isHeld: idle !== undefined, isMissing, left: [] }
        : { isHeld: false, isMissing, left: isMissing ? [] : idle ?? [] };
    }, signal);
  }

  /**
   * Makes the containers of a project anew from the deployed release, whether they run or not, and
   * waits until all is healthy. `timeoutSeconds` bounds only the wait for a deployment under way:
   * containers have their own time to stop, and the release its own to become healthy.
   *
   * Throws `not_found`, `conflict`, `timeout`, `deploy_failed`, and what the engine throws.
   */
  async recreate(
    key: StackKey,
    { service, timeoutSeconds }: {
      readonly service: string | undefined;
      readonly timeoutSeconds: number;
    },
    signal: AbortSignal,
  ): Promise<void> {
    await this.describe(key, signal);
    const recreate = (within: AbortSignal) => this.#parts.recreateRecorded(key, service, within);
    await withinLock(this.#parts, { key, what: "project", timeoutSeconds }, recreate, signal);
  }

  /**
   * Removes a project with its networks. May be called again after a failure, also when only networks are left;
   * volumes alone are no project, since they were kept on purpose. Returns what became of its data. Throws
   * `not_found`, `timeout`, and what the engine throws.
   */
  async remove(
    key: StackKey,
    what: ProjectRemoval & { readonly timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<RemovedData> {
    const { removeVolumes, removeImages, timeoutSeconds } = what;
    const remove = async (within: AbortSignal) => {
      await this.#parts.requireNotOurs(key, within);
      const volumes = { removeVolumes, removeImages };
      const recorded = await this.#parts.destroyRecorded(key, volumes, within);
      if (recorded !== undefined) return recorded;
      const engine = await this.#parts.engine(key.context);
      const labels = { [COMPOSE_LABELS.project]: key.name };
      const containers = await containersOf(engine, labels, within);
      requireFew(key, { containers });
      const isGone = containers.length === 0 &&
        (await engine.listNetworks(labels, within)).length === 0;
      if (isGone) throw unknownProject();
      const dependsOn = Object.fromEntries(
        containers.map((each) => [each.service, dependenciesInLabels(each.labels)]),
      );
      const kept = removeImages ? { keptImages: await this.#parts.keptImages(key, within) } : {};
      const [keepsNamed, whyKept] = [this.#parts.isStack(key), await this.#parts.keptNames(key)];
      const destroy = { key, removeVolumes, keepsNamed, removeImages, dependsOn, whyKept, ...kept };
      return await destroyStack(engine, destroy, within);
    };
    const bounded = { key, what: "project", timeoutSeconds, isFirst: true };
    const told = (within: AbortSignal) => this.#parts.told(key, "remove", remove, within);
    return await withinLock(this.#parts, bounded, told, signal);
  }

  async #waitHealthy(
    key: StackKey,
    containers: readonly ObservedContainer[],
    timeoutSeconds: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, watchMs } = this.#parts;
    const engine = await this.#parts.engine(key.context);
    const services = [...Map.groupBy(containers, (each) => each.service)].map(([name, own]) =>
      serviceFromContainers(name, own.length)
    );
    const deadline = clock.uptime() + timeoutSeconds * 1000;
    const wait = { engine, clock, key, services, deadline, watchMs: () => watchMs };
    await waitHealthy(wait, signal);
  }
}

async function containersOf(
  engine: ProjectEngine,
  labels: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<ContainerSummary[]> {
  const all = await engine.describeContainers(labels, signal);
  return all.filter((each) => !isOneOff(each));
}

/** Containers after those of services they depend on, by the labels that compose gave them. */
function ordered<Container extends ObservedContainer>(containers: readonly Container[]) {
  const labels = new Map(containers.map((each) => [each.service, each.labels]));
  const order = inOrder([...labels.keys()], (name) => dependenciesInLabels(labels.get(name) ?? {}));
  return inServiceOrder(containers, order);
}

function statusOf(containers: readonly ObservedContainer[]): string {
  const counts = Map.groupBy(containers, (each) => each.state);
  return [...counts].map(([state, own]) => `${state}(${own.length})`).sort().join(", ");
}

/** Every compose file in the containers' labels, once, as `compose ls` shows it. */
function configFilesOf(containers: readonly ObservedContainer[]): string {
  const files = containers.flatMap(({ labels }) =>
    (labels[COMPOSE_LABELS.configFiles] ?? "").split(",")
  );
  return [...new Set(files)].filter((file) => file !== "" && file !== "-").join(",");
}

function unknownProject(): StackwrightError {
  const detail =
    "no project of this context has this name; GET /v1/api/projects?all=true lists them";
  return requestError("project not found", detail, "not_found");
}
