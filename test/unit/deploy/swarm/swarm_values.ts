import type { SwarmService, SwarmTask } from "../../../../src/docker/swarm.ts";

/** A service of stack `shop` with one replica. */
export function swarmService(more: Partial<SwarmService> = {}): SwarmService {
  return {
    id: "web-id",
    version: 1,
    name: "shop_web",
    createdAt: new Date(0),
    updatedAt: new Date(0),
    labels: {},
    spec: { TaskTemplate: { ContainerSpec: { Image: "app:1" } } },
    mode: { kind: "replicated", replicas: 1 },
    ports: [],
    iteration: 0,
    ...more,
  };
}

let made = 0;

/** A running task of {@link swarmService}, later than those made before. */
export function swarmTask(more: Partial<SwarmTask> = {}): SwarmTask {
  made++;
  return {
    id: `task-${made}`,
    serviceId: "web-id",
    slot: 1,
    nodeId: "node",
    createdAt: new Date(made),
    state: "running",
    stateSince: new Date(made),
    desired: "running",
    error: "",
    exitCode: undefined,
    spec: { ContainerSpec: { Image: "app:1" } },
    iteration: 0,
    ...more,
  };
}

/** One that failed and was followed by another. */
export function failedTask(more: Partial<SwarmTask> = {}): SwarmTask {
  const error = "task: non-zero exit (3)";
  return swarmTask({ state: "failed", desired: "shutdown", exitCode: 3, error, ...more });
}
