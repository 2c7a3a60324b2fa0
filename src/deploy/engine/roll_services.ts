import {
  type ComposeModel,
  isStackwrightError,
  type ObservedContainer,
  type ServiceExpectation,
  toStackwrightError,
} from "../../model/mod.ts";
import { expectationOf } from "../../compose/mod.ts";
import { serviceFromContainers } from "../compose/foreign_service.ts";
import { nameAside, stopAndRemove } from "../compose/act_on_services.ts";
import { observe } from "../observe.ts";
import type { ServiceUpdate } from "../update/update_config.ts";
import { waitHealthy } from "../wait_healthy.ts";
import { forEachService } from "./along_dependencies.ts";
import { endpointsOf } from "./endpoints.ts";
import type { EngineWork } from "./engine_work.ts";
import { addressKeepers, networksThere, rejoin } from "./gate.ts";
import { makeContainers, numberOf, removeSurplus, type Successor } from "./make_containers.ts";
import { awaitDependencies, start, startStopped } from "./start_containers.ts";
import { eachOf, takePlace } from "./swap_containers.ts";

/**
 * Least milliseconds between removing an old container's last alias and stopping it: a client that
 * resolved its address before, and lost its first packet in the reconnection, retries after 1 s.
 */
const DRAIN_MS = 2000;

/** State of replacing services by their update rules. */
interface Rolling {
  readonly work: EngineWork;
  /** Networks in which a container can change its aliases without losing connections. */
  readonly keepers: ReadonlySet<string>;
  readonly successors: readonly Successor[];
  readonly surplus: readonly ObservedContainer[];
  /** Called for each service when no more of its containers have to be started. */
  readonly onEnding: () => void;
}

/**
 * Replaces the containers of services by their update rules: in lots, in the chosen order, each lot
 * proven healthy before the next; services that are independent of each other concurrently.
 *
 * With start-first, the new container gets its aliases once it works, and the old one loses them
 * before it is stopped. The old one's name records that its successor works: {@link nameAside}.
 */
export async function rollServices(work: EngineWork, signal: AbortSignal): Promise<void> {
  const { changes, model, parts: { engine } } = work;
  const services = Object.keys(changes.scale);
  const startsFirst = (service: string) => changes.updates?.get(service)?.order === "start-first";
  const networks = services.some(startsFirst) ? await networksThere(engine, model, signal) : [];
  const keepers = addressKeepers(networks, model, work.api);
  const hidden = (service: string) => startsFirst(service) ? keepers : new Set<string>();
  const made = await makeContainers(work, signal, hidden);
  let underWay = services.length;
  const onEnding = () => {
    underWay--;
    if (underWay === 0) changes.onEnding?.();
  };
  const leaves = made.successors.filter(({ service }) => startsFirst(service))
    .flatMap(({ replaces }) => replaces.networkNames ?? [])
    .filter((name) => !networks.some((each) => each.name === name));
  const left = await engine.findNetworks([...new Set(leaves)], signal);
  const all = new Set([...keepers, ...addressKeepers(left, model, work.api)]);
  const rolling: Rolling = { work, keepers: all, ...made, onEnding };
  await forEachService(work, async (service) => {
    await awaitDependencies(work, service, signal);
    await rollService(rolling, service, signal);
  }, signal);
}

async function rollService(rolling: Rolling, service: string, signal: AbortSignal): Promise<void> {
  const { work, work: { parts: { engine, clock }, changes } } = rolling;
  const update = changes.updates?.get(service) ?? ALL_AT_ONCE;
  const mine = rolling.successors.filter((each) => each.service === service)
    .sort((a, b) => numberOf(a.replaces) - numberOf(b.replaces));
  for (let done = 0; done < mine.length; done += update.parallelism) {
    if (done > 0) await clock.sleep(update.delayMs, signal);
    const lot: Lot = { service, update, successors: mine.slice(done, done + update.parallelism) };
    if (update.order === "stop-first") {
      await eachOf(lot.successors, (one) => takePlace(work, one, signal));
    }
    const works = await worksOrIsLeft(rolling, lot, signal);
    const isLast = done + lot.successors.length === mine.length;
    if (isLast && mine.length >= (changes.scale[service] ?? 0)) rolling.onEnding();
    if (!works || update.order === "stop-first") continue;
    await eachOf(lot.successors, async (one) => {
      await openGate(rolling, one, signal);
      await retire(rolling, one, signal);
      await stopAndRemove(engine, one.replaces.id, signal);
      work.tell(`Container ${one.name} Recreated`);
    });
  }
  await removeSurplus(work, service, rolling, signal);
  const { containers } = await observe(engine, changes, signal);
  const added = containers.filter(({ id }) => !mine.some((each) => each.id === id));
  await startStopped(work, { service, containers: added }, signal);
}

/** Containers of one service that are replaced at the same time. */
interface Lot {
  readonly service: string;
  readonly update: ServiceUpdate;
  readonly successors: readonly Successor[];
}

/** Rules for a service without its own, in a step with services that have some. */
const ALL_AT_ONCE: ServiceUpdate = { order: "stop-first", parallelism: Infinity, delayMs: 0 };

/**
 * Starts a lot's new containers and waits until they work. After a failure, start-first ones are
 * removed; returns false if `failure_action` is `continue`, and throws otherwise.
 */
async function worksOrIsLeft(rolling: Rolling, lot: Lot, signal: AbortSignal): Promise<boolean> {
  const { parts: { engine }, changes, tell } = rolling.work;
  const { service, update: { order, failureAction: action }, successors } = lot;
  try {
    await startAndProve(rolling, lot, signal);
    return true;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `replacing ${service}`);
    if (!isStackwrightError(error, "unhealthy", "deploy_failed")) throw error;
    if (order === "start-first") {
      for (const { id } of successors) await stopAndRemove(engine, id, signal);
    }
    changes.failed?.({ service, error, action });
    if (action !== "continue") throw error;
    tell(`${error.message}; the rest goes on, as its failure_action says`);
    return false;
  }
}

async function startAndProve({ work }: Rolling, lot: Lot, signal: AbortSignal): Promise<void> {
  const { service, successors } = lot;
  const { parts: { engine, clock }, changes, model } = work;
  const { key, timeoutMs, progress } = changes;
  for (const each of successors) await start(work, each, signal);
  const expectation = expectationOfLot(lot, model);
  await waitHealthy({
    ...{ engine, clock, key, progress },
    services: [{ ...serviceFromContainers(service, successors.length), expectation }],
    deadline: clock.uptime() + timeoutMs,
    known: new Set(),
    only: new Set(successors.map((each) => each.id)),
    watchMs: changes.watchMs ?? (() => 0),
  }, signal);
}

function expectationOfLot(
  { service, update, successors }: Lot,
  model: ComposeModel,
): ServiceExpectation {
  const serves = successors.some(({ replaces }) => replaces.state === "running");
  return {
    ...expectationOf(service, model),
    replicas: successors.length,
    autostart: true,
    // A container that takes over from a serving one must keep running.
    ...(update.order === "start-first" && serves ? { mayFinish: false } : {}),
  };
}

/** Gives the new container the aliases of its service. */
async function openGate(
  { work: { parts: { engine }, model, api }, keepers }: Rolling,
  { service, id, replaces }: Successor,
  signal: AbortSignal,
): Promise<void> {
  const details = await engine.inspectContainer(id, signal);
  const endpoints = Object.entries(
    endpointsOf({ model, service, number: numberOf(replaces), api }),
  );
  for (const [network, endpoint] of endpoints.filter(([name]) => keepers.has(name))) {
    const now = details?.endpoints?.[network];
    await rejoin(engine, { network, container: id, now, endpoint }, signal);
  }
}

/**
 * Removes the old container's aliases while it still answers; the new container serves already, and gets
 * the name at once: until the old one has ended, which may take long, somebody else could take it.
 */
async function retire(
  { work: { parts: { engine, clock, log } }, keepers }: Rolling,
  { id, name, replaces }: Successor,
  signal: AbortSignal,
): Promise<void> {
  await engine.renameContainer(replaces.id, nameAside(id, name), signal);
  await engine.renameContainer(id, name, signal);
  const details = await engine.inspectContainer(replaces.id, signal);
  if (details === undefined || details.container.state !== "running") return;
  const left = Object.entries(details.endpoints ?? {}).filter(([network]) => keepers.has(network));
  if (left.length === 0) return;
  const beganMs = clock.uptime();
  try {
    for (const [network, now] of left) {
      const endpoint = { Aliases: [] };
      await rejoin(engine, { network, container: replaces.id, now, endpoint }, signal);
    }
  } catch (error) {
    if (!isStackwrightError(error, "engine_refused")) throw error;
    log.warning(`requests to ${name} that are under way may fail: ${error.message}`);
  }
  // TCP retransmits after pauses that double, each about as long as all earlier ones together.
  await clock.sleep(DRAIN_MS + 2 * (clock.uptime() - beganMs), signal);
}
