import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  active,
  executionBody,
  idle,
  isIdle,
  rerunBody,
  runState,
  stopsOfService,
} from "../../../../src/deploy/jobs/swarm_job.ts";
import type { JsonRecord } from "../../../../src/docker/json.ts";
import { serviceOf } from "../../../../src/docker/swarm_calls.ts";
import { swarmService, swarmTask } from "../swarm/swarm_values.ts";

const RUN = "019a0000-0000-7000-8000-0123456789ab";
const spec = (more: JsonRecord = {}): JsonRecord => ({
  Name: "shop_backup",
  Labels: { "com.docker.stack.namespace": "shop", "stackwright.job.tasks": "2" },
  TaskTemplate: {
    ContainerSpec: { Image: "backup:3", Secrets: [{ SecretID: "s1" }] },
    Networks: [{ Target: "n1", Aliases: ["backup"] }],
    RestartPolicy: { Condition: "any" },
  },
  Mode: { ReplicatedJob: { MaxConcurrent: 0, TotalCompletions: 0 } },
  UpdateConfig: { Parallelism: 1 },
  EndpointSpec: { Ports: [{ TargetPort: 80 }] },
  ...more,
});
const made = (body: JsonRecord) => serviceOf({ ID: "1", Spec: body });
const run = { runId: RUN, stops: [{ id: "w", replicas: 3 }], completions: 1 };

describe("the service of a one-off run in a swarm", () => {
  it("is the job's without its names, ports and updates, and remembers what it stopped", () => {
    const service = made(spec());
    const body = executionBody(service, run);
    assert.equal(body["Name"], "shop_backup-stackwright-job-0123456789ab");
    assert.deepEqual(body["TaskTemplate"], {
      ContainerSpec: { Image: "backup:3", Secrets: [{ SecretID: "s1" }] },
      Networks: [{ Target: "n1" }],
      RestartPolicy: { Condition: "none" },
    });
    assert.deepEqual([body["UpdateConfig"], body["EndpointSpec"]], [undefined, undefined]);
    assert.deepEqual(body["Mode"], { ReplicatedJob: { MaxConcurrent: 1, TotalCompletions: 1 } });
    const { labels } = made(body);
    assert.equal(labels["stackwright.job.of"], "shop_backup");
    assert.equal(labels["stackwright.job.run"], RUN);
    assert.deepEqual(stopsOfService(labels), run.stops);
    assert.deepEqual(stopsOfService({ "stackwright.job.stops": "{" }), []);
    assert.deepEqual(stopsOfService({}), []);
  });

  it("has a name that an engine takes, however long the job's is", () => {
    const { Name } = executionBody(made(spec({ Name: "x".repeat(63) })), run);
    assert.equal(String(Name).length, 63);
    assert.match(String(Name), /-stackwright-job-0123456789ab$/);
  });

  it("is made without a task, once or on every node", () => {
    const everywhere = { Labels: { "stackwright.job.tasks": "global" } };
    for (const body of [spec(), spec(everywhere), spec({ Mode: { Global: {} } })]) {
      const execution = executionBody(made(body), run);
      assert.equal(isIdle(made(execution)), false);
      assert.equal(isIdle(made(idle(execution))), true);
      const started = active(idle(execution), { completions: 1 });
      assert.equal(isIdle(made(started)), false);
      assert.deepEqual(started["Mode"], execution["Mode"]);
      assert.deepEqual(Object.keys(execution["Mode"] as JsonRecord), [
        body["Mode"] !== undefined && "Global" in (body["Mode"] as JsonRecord) ||
          body["Labels"] === everywhere.Labels
          ? "GlobalJob"
          : "ReplicatedJob",
      ]);
    }
  });
});

describe("a job in a swarm that restarts", () => {
  it("is run again with the tasks that its author wants, by a label that changes", () => {
    const body = rerunBody(made(spec()), new Date("2026-03-10T11:00:00Z"));
    assert.deepEqual(body["Mode"], { ReplicatedJob: { MaxConcurrent: 2, TotalCompletions: 2 } });
    assert.equal(made(body).labels["stackwright.job.last_run"], "2026-03-10T11:00:00.000Z");
    assert.equal(body["UpdateConfig"], undefined);
  });

  it("has to be one that Stackwright deployed", () => {
    const foreign = made(spec({ Mode: { Replicated: { Replicas: 0 } } }));
    assert.throws(() => rerunBody(foreign, new Date(0)), /one_off runs it/);
  });
});

describe("the end of a run in a swarm", () => {
  const job = swarmService({ mode: { kind: "replicated-job", completions: 2 }, iteration: 3 });
  const task = (state: string, more = {}) =>
    swarmTask({ state, desired: "complete", iteration: 3, ...more });
  const ended = (code: number, why = "") => ({ kind: "ended", code, why });

  it("is there when every task of the last run ended", () => {
    const one = task("complete");
    assert.equal(runState(job, []).kind, "running");
    assert.equal(runState(job, [one]).kind, "running");
    assert.equal(runState(job, [one, task("running", { slot: 2 })]).kind, "running");
    assert.equal(runState(job, [one, task("complete", { slot: 2, iteration: 2 })]).kind, "running");
    assert.deepEqual(runState(job, [one, task("complete", { slot: 2 })]), ended(0));
  });

  it("has the exit code of the first that failed, or what the engine says", () => {
    const one = task("complete");
    const failed = task("failed", { slot: 2, exitCode: 7, desired: "shutdown" });
    assert.deepEqual(runState(job, [one, failed]), ended(7));
    const rejected = task("rejected", { slot: 2, error: "No such image: backup:3" });
    assert.deepEqual(runState(job, [one, rejected]), ended(0, "No such image: backup:3"));
    const gone = task("orphaned", { slot: 2, exitCode: undefined });
    assert.deepEqual(runState(job, [one, gone]), ended(0, "its task is orphaned"));
  });

  it("says why a task does not start", () => {
    const waiting = task("pending", { error: "no suitable node" });
    assert.deepEqual(runState(job, [waiting]), { kind: "running", why: "no suitable node" });
  });
});
