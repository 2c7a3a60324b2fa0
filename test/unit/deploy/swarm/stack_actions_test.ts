import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StackOrder } from "../../../../src/deploy/swarm/stack_actions.ts";
import { changeOf } from "../../../../src/deploy/swarm/stack_actions.ts";
import type { JsonRecord } from "../../../../src/docker/json.ts";
import { serviceOf } from "../../../../src/docker/swarm_calls.ts";

const MODES = {
  replicated: { Replicated: { Replicas: 2 } },
  global: { Global: {} },
  "replicated-job": { ReplicatedJob: { MaxConcurrent: 1, TotalCompletions: 1 } },
  "global-job": { GlobalJob: {} },
} as const;
const spec = (mode: keyof typeof MODES, labels: Record<string, string> = {}): JsonRecord => ({
  Name: "shop_web",
  Labels: { kept: "yes" },
  TaskTemplate: { ContainerSpec: { Image: "busybox", Labels: labels }, ForceUpdate: 4 },
  Mode: MODES[mode],
  UpdateConfig: { Parallelism: 1 },
  RollbackConfig: { Parallelism: 1 },
});
const made = (body: JsonRecord, order: StackOrder) =>
  changeOf(serviceOf({ ID: "1", Spec: body }), order);
const scale = { action: "scale", replicas: 5 } as const;
const restart = { action: "restart" } as const;
const run = { action: "run", at: new Date("2026-03-10T11:00:00Z") } as const;

describe("an action on a service of a swarm", () => {
  it("scales what has a number of tasks", () => {
    const { body } = made(spec("replicated"), scale) as { body: JsonRecord };
    assert.deepEqual(body, { ...spec("replicated"), Mode: { Replicated: { Replicas: 5 } } });
    const job = made(spec("replicated-job"), scale) as { body: JsonRecord };
    assert.deepEqual(job.body["Mode"], {
      ReplicatedJob: { MaxConcurrent: 5, TotalCompletions: 5 },
    });
    assert.equal(job.body["UpdateConfig"], undefined);
    assert.equal(job.body["RollbackConfig"], undefined);
    assert.ok("skipped" in made(spec("global"), scale));
    assert.ok("skipped" in made(spec("global-job"), scale));
  });

  it("restarts what does not end by itself, with nothing else changed", () => {
    for (const mode of ["replicated", "global"] as const) {
      const { body } = made(spec(mode), restart) as { body: JsonRecord };
      const { TaskTemplate } = spec(mode) as { TaskTemplate: JsonRecord };
      assert.deepEqual(body, { ...spec(mode), TaskTemplate: { ...TaskTemplate, ForceUpdate: 5 } });
    }
    assert.ok("skipped" in made(spec("replicated-job"), restart));
    assert.ok("skipped" in made(spec("global-job"), restart));
  });

  it("runs jobs anew, by a label that says when", () => {
    for (const mode of ["replicated-job", "global-job"] as const) {
      const { body } = made(spec(mode), run) as { body: JsonRecord };
      const at = "2026-03-10T11:00:00.000Z";
      assert.deepEqual(body["Labels"], { kept: "yes", "stackwright.job.last_run": at });
      assert.equal(body["UpdateConfig"], undefined);
      assert.deepEqual(body["Mode"], MODES[mode]);
    }
    assert.ok("skipped" in made(spec("replicated"), run));
    assert.ok("skipped" in made(spec("global"), run));
  });

  it("leaves scheduled jobs alone", () => {
    for (const order of [scale, restart]) {
      const change = made(spec("replicated", { "stackwright.job.enabled": "true" }), order);
      assert.match("skipped" in change ? change.skipped : "", /scheduled job/);
    }
  });
});
