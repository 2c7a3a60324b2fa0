import { asNumber, asRecord, asText, asTexts, type JsonRecord } from "../../src/docker/json.ts";
import type { Swarm } from "../../src/docker/swarm.ts";
import { serviceOf, taskOf } from "../../src/docker/swarm_calls.ts";
import { createMemoryEngine, type MemoryEngine } from "./memory_engine.ts";

/** A service that a test puts into a {@link createMemorySwarm}. */
export interface MemoryService {
  readonly stack: string;
  /** Name in the compose file. */
  readonly service: string;
  /** As the engine has it; one replica by default. */
  readonly mode?: JsonRecord;
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels and variables of its containers. */
  readonly container?: JsonRecord;
}

/** An engine that manages a swarm, whose tasks are at once what their service wants. */
export interface MemorySwarmEngine extends MemoryEngine {
  /** Specs by service name, as they are now. */
  readonly specs: Map<string, JsonRecord>;
  /** How many updates are refused because somebody else was first. */
  outOfSequence: number;
  /** State of tasks by service name, where it is not what the service wants. */
  readonly states: Map<string, { readonly State: string; readonly ExitCode?: number }>;
}

/** Makes an engine with these services; each update is one of its `calls`: `update shop_web`. */
export function createMemorySwarm(services: readonly MemoryService[] = []): MemorySwarmEngine {
  const specs = new Map(services.map((each) => {
    const name = `${each.stack}_${each.service}`;
    return [name, specOf(name, each)];
  }));
  const versions = new Map([...specs.keys()].map((name) => [name, 1]));
  const memory = createMemoryEngine();
  const { info } = memory;
  const states: MemorySwarmEngine["states"] = new Map();
  const found = (labels: Readonly<Record<string, string | undefined>>) =>
    [...specs].filter(([, spec]) => {
      const own = asTexts(spec["Labels"]);
      return Object.entries(labels).every(([name, value]) =>
        value === undefined ? own[name] !== undefined : own[name] === value
      );
    });
  const swarm: Partial<Swarm> = {
    services: (labels) =>
      Promise.resolve(
        found(labels).map(([name, spec]) => {
          const index = versions.get(name) ?? 1;
          return serviceOf({
            ID: `${name}-id`,
            Version: { Index: index },
            Spec: spec,
            Endpoint: {
              Ports: [{
                Protocol: "tcp",
                TargetPort: 80,
                PublishedPort: 8080,
                PublishMode: "ingress",
              }],
            },
            ...(isJob(spec) ? { JobStatus: { JobIteration: { Index: index } } } : {}),
          });
        }),
      ),
    everyService: async (of, signal) =>
      (await engine.swarm.services({}, signal)).map(of).filter((each) => each !== undefined),
    namedServices: async (names, signal) =>
      (await engine.swarm.services({}, signal)).filter(({ name }) => names.includes(name)),
    tasks: (labels) =>
      Promise.resolve(
        found(labels).flatMap(([name, spec]) =>
          Array.from({ length: wanted(spec) }, (_, index) =>
            taskOf({
              ID: `${name}.${index + 1}`,
              ServiceID: `${name}-id`,
              Slot: index + 1,
              Spec: asRecord(spec["TaskTemplate"]),
              DesiredState: isJob(spec) ? "complete" : "running",
              ...(isJob(spec) ? { JobIteration: { Index: versions.get(name) ?? 1 } } : {}),
              Status: statusOf(states.get(name)?.State ?? (isJob(spec) ? "complete" : "running"), {
                ...states.get(name),
              }),
            }))
        ),
      ),
    service: async (id, signal) =>
      (await engine.swarm.services({}, signal)).find((each) => each.id === id),
    tasksOf: async (id, signal) =>
      (await engine.swarm.tasks({}, signal)).filter((each) => each.serviceId === id),
    createService: ({ body }) => {
      const name = asText((body as JsonRecord)["Name"]);
      engine.onCall(`create ${name}`);
      engine.calls.push(`create ${name}`);
      specs.set(name, body as JsonRecord);
      versions.set(name, 1);
      return Promise.resolve(`${name}-id`);
    },
    serviceLogs: (id) => Promise.resolve([`printed by ${id}`]),
    updateService: (service, { body }) => {
      const name = asText(body["Name"]);
      engine.onCall(`update ${name}`);
      if (engine.outOfSequence > 0) {
        engine.outOfSequence--;
        return Promise.reject(new Error("update out of sequence"));
      }
      engine.calls.push(`update ${name}`);
      specs.set(name, body as JsonRecord);
      versions.set(name, service.version + 1);
      return Promise.resolve();
    },
    removeService: (id) => {
      engine.onCall(`remove ${id}`);
      engine.calls.push(`remove ${id}`);
      specs.delete(id.replace(/-id$/, ""));
      return Promise.resolve();
    },
    objects: () => Promise.resolve([]),
    networks: () => Promise.resolve([]),
  };
  const engine: MemorySwarmEngine = Object.assign(memory, {
    specs,
    outOfSequence: 0,
    states,
    swarm: { ...memory.swarm, ...swarm },
    info: async (signal: AbortSignal) => ({ ...await info(signal), swarm: "manager" as const }),
  });
  return engine;
}

function specOf(name: string, { stack, mode, labels, container }: MemoryService): JsonRecord {
  return {
    Name: name,
    Labels: { "com.docker.stack.namespace": stack, ...labels },
    TaskTemplate: { ContainerSpec: { Image: "busybox:1@sha256:1", ...container } },
    Mode: mode ?? { Replicated: { Replicas: 1 } },
  };
}

function statusOf(State: string, { ExitCode }: { readonly ExitCode?: number }): JsonRecord {
  return { State, ...(ExitCode === undefined ? {} : { ContainerStatus: { ExitCode } }) };
}

function isJob(spec: JsonRecord): boolean {
  return Object.keys(asRecord(spec["Mode"]))[0]?.endsWith("Job") === true;
}

function wanted(spec: JsonRecord): number {
  const mode = asRecord(spec["Mode"]);
  return asNumber(asRecord(mode["Replicated"])["Replicas"]) ??
    asNumber(asRecord(mode["ReplicatedJob"])["TotalCompletions"]) ?? 1;
}
