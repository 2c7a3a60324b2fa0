import { asList, asNumber, asRecord, asText } from "../../src/docker/json.ts";
import {
  type Behaviour,
  type EngineState,
  type FakeContainer,
  Refusal,
} from "./fake_engine_state.ts";

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5000;
const ENDING_SIGNALS = ["KILL", "TERM", "INT", "QUIT", "ABRT"];

/** Starts a container; false when it runs already. Refuses as its behaviour says. */
export function start(state: EngineState, container: FakeContainer): boolean {
  if (container.state === "running") return false;
  joinNetworks(state, container);
  refuseTaken(state, container);
  const behaviour = state.behaviourOf(container);
  if (typeof behaviour === "object" && "refuse" in behaviour) {
    container.error = behaviour.refuse;
    throw new Refusal(500, behaviour.refuse);
  }
  clearTimers(container);
  Object.assign(container, {
    state: "running",
    error: "",
    exitCode: 0,
    oomKilled: false,
    startedAt: new Date(),
    health: hasHealthcheck(container) ? "starting" : "none",
  });
  emit(state, container, "start");
  behave(state, container, behaviour);
  return true;
}

/** Ends a container for good, as `stop` and `kill` do: its restart policy does not apply. */
export function end(state: EngineState, container: FakeContainer, code: number): void {
  clearTimers(container);
  if (container.state === "created") return;
  const ran = container.state === "running" || container.state === "paused";
  if (ran) die(state, container, code);
  container.state = "exited";
  wake(container);
}

/** The container's own process ends: its restart policy applies. */
export function exit(state: EngineState, container: FakeContainer, code: number): void {
  clearTimers(container);
  die(state, container, code);
  if (!restarts(container, code)) {
    container.state = "exited";
    return wake(container);
  }
  container.state = "restarting";
  const delay = Math.min(FIRST_RESTART_MS * 2 ** container.restarts, LONGEST_RESTART_MS);
  container.restarts++;
  later(container, delay, () => {
    if (container.state === "restarting" && state.containers.has(container.id)) {
      start(state, container);
    }
  });
}

/** Stops a container as the stop call does; false when it does not run. */
export function stop(state: EngineState, container: FakeContainer): boolean {
  if (container.state !== "running" && container.state !== "restarting") return false;
  emit(state, container, "kill", { signal: "15" });
  const behaviour = state.behaviourOf(container);
  const hears = behaviour !== "run" && "stopsWith" in behaviour;
  end(state, container, hears ? behaviour.stopsWith : 143);
  emit(state, container, "stop");
  return true;
}

/** Sends a signal; those that end a process end the container. */
export function kill(state: EngineState, container: FakeContainer, signalName: string): void {
  if (container.state !== "running") {
    throw new Refusal(409, `container ${container.id} is not running`);
  }
  const signal = signalName.replace(/^SIG/i, "").toUpperCase() || "KILL";
  emit(state, container, "kill", { signal });
  if (ENDING_SIGNALS.includes(signal)) end(state, container, signal === "KILL" ? 137 : 143);
}

/** Takes a container away, with its anonymous volumes if asked. */
export function remove(
  state: EngineState,
  container: FakeContainer,
  options: { readonly volumes: boolean },
): void {
  end(state, container, 137);
  state.containers.delete(container.id);
  if (options.volumes) {
    for (const mount of container.mounts) if (mount.anonymous) state.volumes.delete(mount.name);
  }
  emit(state, container, "destroy");
  wake(container);
}

/** Changes the health of a running container. */
export function setHealth(
  state: EngineState,
  container: FakeContainer,
  health: "starting" | "healthy" | "unhealthy",
): void {
  container.health = health;
  if (health !== "starting") emit(state, container, `health_status: ${health}`);
}

/** Tells the event stream about a container. */
export function emit(
  state: EngineState,
  container: FakeContainer,
  action: string,
  more: Readonly<Record<string, string>> = {},
): void {
  const attributes = {
    ...container.labels,
    image: container.image,
    name: container.name,
    ...more,
  };
  state.emit("container", action, { id: container.id, attributes });
}

/** Forgets what the container would have done later. */
export function clearTimers(container: FakeContainer): void {
  for (const timer of container.timers) clearTimeout(timer);
  container.timers.clear();
}

function behave(state: EngineState, container: FakeContainer, behaviour: Behaviour): void {
  if (behaviour === "run" || "stopsWith" in behaviour) {
    if (hasHealthcheck(container)) setHealth(state, container, "healthy");
  } else if ("exit" in behaviour) {
    const environment = container.config["Env"];
    if (behaviour.printsEnvironment === true && Array.isArray(environment)) {
      for (const each of environment) container.output.push({ stream: 1, text: String(each) });
    }
    later(container, behaviour.afterMs, () => exit(state, container, behaviour.exit));
  } else if ("health" in behaviour && hasHealthcheck(container)) {
    later(container, behaviour.afterMs, () => setHealth(state, container, behaviour.health));
  }
}

/** At once without a delay, so that a test need not wait for what is certain. */
function later(container: FakeContainer, delay: number | undefined, act: () => void): void {
  if (delay === undefined) return act();
  const timer = setTimeout(() => {
    container.timers.delete(timer);
    act();
  }, delay);
  container.timers.add(timer);
}

function joinNetworks(state: EngineState, container: FakeContainer): void {
  for (const [name, endpoint] of container.endpoints) {
    // A new network of the same name is another one to a container that was in the old one.
    if (endpoint.networkId !== "") state.network(endpoint.networkId);
    const network = state.network(name);
    endpoint.networkId = network.id;
    endpoint.ip = endpoint.address || state.newAddress(network);
  }
  const shared = /^container:(.+)$/.exec(asText(container.hostConfig["NetworkMode"]))?.[1];
  if (shared !== undefined && state.container(shared).state !== "running") {
    throw new Refusal(409, "cannot join network of a non running container: " + shared);
  }
}

/** Two running containers cannot have one port of the host, or one fixed address. */
function refuseTaken(state: EngineState, container: FakeContainer): void {
  const wanted = takenBy(container);
  for (const other of state.containers.values()) {
    if (other === container || other.state !== "running") continue;
    const taken = takenBy(other).find((each) => wanted.includes(each));
    if (taken === undefined) continue;
    container.error = `${taken} is already in use`;
    throw new Refusal(500, container.error);
  }
}

function takenBy({ hostConfig, endpoints }: FakeContainer): string[] {
  const ports = Object.entries(asRecord(hostConfig["PortBindings"])).flatMap(([key, places]) =>
    asList(places).map((place) => asText(asRecord(place)["HostPort"])).filter((port) => port !== "")
      .map((port) => `port ${port}/${key.split("/")[1]}`)
  );
  const addresses = [...endpoints.values()].flatMap(({ address = "" }) =>
    address === "" ? [] : [`address ${address}`]
  );
  return [...ports, ...addresses];
}

function die(state: EngineState, container: FakeContainer, code: number): void {
  Object.assign(container, { exitCode: code, finishedAt: new Date(), health: "none" });
  emit(state, container, "die", { exitCode: String(code) });
}

function restarts(container: FakeContainer, code: number): boolean {
  const policy = asRecord(container.hostConfig["RestartPolicy"]);
  const name = asText(policy["Name"]);
  if (name === "always" || name === "unless-stopped") return true;
  const limit = asNumber(policy["MaximumRetryCount"]) ?? 0;
  return name === "on-failure" && code !== 0 && (limit === 0 || container.restarts < limit);
}

function hasHealthcheck(container: FakeContainer): boolean {
  const test = asRecord(container.config["Healthcheck"])["Test"];
  return Array.isArray(test) && test.length > 0 && test[0] !== "NONE";
}

function wake(container: FakeContainer): void {
  for (const waiter of [...container.waiters]) waiter();
}
