import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  holdsSomething,
  observedServices,
  requireFewTasks,
} from "../../../../src/deploy/swarm/observed_services.ts";
import type { SwarmService, SwarmTask } from "../../../../src/docker/swarm.ts";
import { failedTask, swarmService, swarmTask } from "./swarm_values.ts";

const seen = (service: Partial<SwarmService>, tasks: readonly SwarmTask[]) =>
  observedServices("shop", [swarmService(service)], tasks).containers
    .map(({ state, health, exitCode }) => [state, health, exitCode]);

describe("observedServices()", () => {
  it("tells as many as a service wants, with its labels, name and image", () => {
    const labels = { "stackwright.digest": "d" };
    const service = swarmService({ labels, mode: { kind: "replicated", replicas: 2 } });
    const found = observedServices("shop", [service], [swarmTask()]);
    assert.deepEqual(found.containers.map((each) => [each.service, each.labels, each.imageId]), [
      ["web", labels, "app:1"],
      ["web", labels, "app:1"],
    ]);
  });

  const none = undefined;
  const states: readonly (readonly [
    title: string,
    service: Partial<SwarmService>,
    tasks: readonly SwarmTask[],
    seen: unknown,
  ])[] = [
    ["one that runs", {}, [swarmTask()], ["running", "none", none]],
    ["one that is not there yet", {}, [], ["running", "starting", none]],
    ["one that starts", {}, [swarmTask({ state: "preparing" })], ["running", "starting", none]],
    ["one that failed and is not followed", {}, [failedTask()], ["exited", "none", 3]],
    ["one that failed and will be", {}, [failedTask({ desired: "running" })], [
      "restarting",
      "none",
      3,
    ]],
    ["one that ended well", {}, [swarmTask({ state: "complete", desired: "shutdown" })], [
      "exited",
      "none",
      0,
    ]],
    [
      "a job that failed, which nobody asked to run again",
      {
        mode: { kind: "replicated-job", completions: 1 },
      },
      [failedTask()],
      ["running", "unhealthy", none],
    ],
  ];
  for (const [title, service, tasks, is] of states) {
    it(`tells ${title}`, () => assert.deepEqual(seen(service, tasks), [is]));
  }

  it("leaves out services that run a job once, and none that is only called like one", () => {
    const name = "shop_web-stackwright-job-1";
    const labels = { "stackwright.job.run": "1" };
    const mode = { kind: "replicated-job", completions: 0 } as const;
    const runs = [swarmService({ name, labels }), swarmService({ name, mode, labels })];
    assert.deepEqual(observedServices("shop", runs, []), { containers: [], idle: [] });
    const { containers } = observedServices("shop", [swarmService({ name })], []);
    assert.deepEqual(containers.map(({ service }) => service), ["web-stackwright-job-1"]);
  });

  it("is asked for no more tasks than there may be, whatever an engine says", () => {
    const of = (replicas: number, tasks = "1") => [
      swarmService({ mode: { kind: "replicated", replicas } }),
      swarmService({ labels: { "stackwright.job.tasks": tasks } }),
    ];
    requireFewTasks(of(1000));
    for (const services of [of(4e9), of(1, "1e12"), of(Infinity), [...of(-4e9), ...of(4e9)]]) {
      assert.throws(() => requireFewTasks(services), { code: "engine_refused" });
    }
  });

  it("names those of which no task is wanted", () => {
    const labels = { "stackwright.digest": "d" };
    const idle = swarmService({ labels, mode: { kind: "replicated", replicas: 0 } });
    assert.deepEqual(observedServices("shop", [idle], []), {
      containers: [],
      idle: [{ service: "web", labels }],
    });
    const job = { ...idle, labels: { "stackwright.job.tasks": "1" } };
    assert.deepEqual(observedServices("shop", [job], []).idle, []);
  });
});

describe("holdsSomething()", () => {
  it("is so of a task from its node on until it has ended", () => {
    const states = ["assigned", "accepted", "preparing", "ready", "starting", "running"];
    for (const state of states) assert.ok(holdsSomething(swarmTask({ state })), state);
    for (
      const state of ["new", "pending", "complete", "shutdown", "failed", "rejected", "orphaned"]
    ) {
      assert.ok(!holdsSomething(swarmTask({ state })), state);
    }
  });
});
