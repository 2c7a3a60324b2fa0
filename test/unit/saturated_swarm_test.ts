import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { convergence, engineVerdicts } from "../../src/deploy/swarm/convergence.ts";
import type { SwarmService, SwarmTask } from "../../src/docker/swarm.ts";
import { failedTask, swarmService, swarmTask } from "./deploy/swarm/swarm_values.ts";
import { processorMs } from "./processor_time.ts";

/** Processor time of a look, which is taken every second, in milliseconds. */
const MOST_MS = 250;
/** Places of a service, of which an engine keeps five tasks each. */
const PLACES = 1000;

const TEMPLATE = JSON.stringify({
  ContainerSpec: {
    Image: "app:1",
    Labels: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`label.${at}`, `v${at}`])),
    Env: Array.from({ length: 60 }, (_, at) => `VARIABLE_${at}=${"x".repeat(40)}`),
  },
  Resources: { Limits: { MemoryBytes: 1 << 28 } },
  RestartPolicy: { Condition: "any" },
});

/** What tasks are made from, as an engine tells it of each. */
const template = () => JSON.parse(TEMPLATE);

/** A service whose tasks crash all the time, each place just short of being given up. */
function crashing(more: Partial<SwarmService>): { service: SwarmService; tasks: SwarmTask[] } {
  const service = swarmService({
    spec: { TaskTemplate: template() },
    mode: { kind: "replicated", replicas: PLACES },
    ...more,
  });
  const tasks = Array.from({ length: PLACES }, (_, at) => {
    const place = { slot: at + 1, spec: template(), nodeId: "node" };
    const failed = Array.from({ length: 4 }, () => failedTask({ ...place, spec: template() }));
    return [...failed, swarmTask({ ...place, state: "starting" })];
  }).flat();
  return { service, tasks };
}

describe("a swarm stack of a thousand tasks that crash all the time", () => {
  const update = {
    state: "paused",
    message: "update paused",
    startedAt: new Date(0).toISOString(),
  };
  for (
    const [title, more] of [["is judged", {}], ["with a failed update is judged", {
      update,
    }]] as const
  ) {
    it(`${title} without keeping anything waiting`, () => {
      const { service, tasks } = crashing(more);
      const began = processorMs();
      convergence(service, tasks, { waitsForEnd: false });
      engineVerdicts("shop", [service], tasks);
      const took = processorMs() - began;
      assert.ok(took < MOST_MS, `${took} ms`);
    });
  }
});
