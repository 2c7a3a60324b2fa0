import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { convergence } from "../../../../src/deploy/swarm/convergence.ts";
import type { SwarmService, SwarmTask } from "../../../../src/docker/swarm.ts";
import { failedTask, swarmService, swarmTask } from "./swarm_values.ts";

const never = {
  TaskTemplate: { ContainerSpec: { Image: "app:1" }, RestartPolicy: { Condition: "none" } },
};
const ofNever = { spec: never.TaskTemplate };
const job = { kind: "replicated-job", completions: 2 } as const;
const done = (slot: number) =>
  swarmTask({ slot, state: "complete", desired: "complete", exitCode: 0 });

interface Case {
  readonly title: string;
  readonly service?: Partial<SwarmService>;
  readonly tasks: readonly SwarmTask[];
  readonly waitsForEnd?: boolean;
  readonly wanted?: { readonly digest?: string };
  readonly kind: string;
  readonly why?: RegExp;
}

const CASES: readonly Case[] = [
  { title: "one task that runs", tasks: [swarmTask()], kind: "good" },
  {
    title: "a service without tasks yet",
    tasks: [],
    kind: "waiting",
    why: /^0 of 1 tasks run$/,
  },
  {
    title: "a task of the template of before",
    tasks: [swarmTask({ spec: { ContainerSpec: { Image: "app:0" } } })],
    kind: "waiting",
    why: /0 of 1/,
  },
  {
    title: "a task whose place only changed, and whose network the engine names by its id",
    service: {
      spec: {
        TaskTemplate: {
          ContainerSpec: { Image: "app:1" },
          Placement: { Constraints: ["a"] },
          Networks: [{ Target: "id" }],
        },
      },
    },
    tasks: [swarmTask()],
    kind: "good",
  },
  {
    title: "a task that no node can take",
    tasks: [swarmTask({ state: "pending", error: "no suitable node" })],
    kind: "waiting",
    why: /0 of 1 tasks run \(no suitable node\)/,
  },
  {
    title: "a task that waits in the place of one that failed",
    tasks: [failedTask(), swarmTask({ state: "ready" })],
    kind: "waiting",
    why: /^0 of 1 tasks run \(the last one ended: task: non-zero exit \(3\)\)$/,
  },
  {
    title: "a task that waits in the place of one that ended well",
    tasks: [
      swarmTask({ state: "complete", desired: "shutdown", exitCode: 0 }),
      swarmTask({ state: "ready" }),
    ],
    kind: "waiting",
    why: /the last one ended: exit code 0\)$/,
  },
  {
    title: "a job for nodes that there are not",
    service: { mode: { kind: "global-job" } },
    tasks: [],
    kind: "waiting",
    why: /^no node takes a task of it$/,
  },
  {
    title: "one failure of a service that restarts",
    tasks: [failedTask(), swarmTask({ state: "ready", desired: "ready" })],
    kind: "waiting",
  },
  {
    title: "five failures in one place",
    tasks: [...Array.from({ length: 5 }, () => failedTask()), swarmTask({ state: "starting" })],
    kind: "failed",
    why: /^5 tasks failed, the last with: task: non-zero exit \(3\)$/,
  },
  {
    title: "five failures of what it was before",
    tasks: [
      ...Array.from(
        { length: 5 },
        () => failedTask({ spec: { ContainerSpec: { Image: "app:0" } } }),
      ),
      swarmTask(),
    ],
    kind: "good",
  },
  {
    title: "one failure of a service that is never restarted",
    service: { spec: never },
    tasks: [failedTask(ofNever)],
    kind: "failed",
    why: /its task failed: task: non-zero exit \(3\)/,
  },
  {
    title: "a task that ended well",
    service: { spec: never },
    tasks: [swarmTask({ ...ofNever, state: "complete", desired: "shutdown", exitCode: 0 })],
    kind: "good",
  },
  {
    title: "an update that the engine paused",
    service: {
      update: { state: "paused", message: "update paused due to early termination of task x1" },
    },
    tasks: [swarmTask(), failedTask({ id: "x1" })],
    kind: "failed",
    why: /update paused .*: task: non-zero exit \(3\)/,
  },
  {
    title: "an update that the engine took back although all tasks run",
    service: { update: { state: "rollback_completed", message: "rolled back" } },
    tasks: [swarmTask()],
    kind: "failed",
  },
  {
    title: "an update that the engine took back, without saying why, whose task failed",
    service: { update: { state: "rollback_completed", message: "rollback completed" } },
    tasks: [swarmTask(), failedTask({ spec: { ContainerSpec: { Image: "app:2" } } })],
    kind: "failed",
    why: /^rollback completed: task: non-zero exit \(3\)$/,
  },
  {
    title: "one that the engine took back to the release that is wanted",
    service: {
      labels: { "stackwright.digest": "old" },
      update: { state: "rollback_completed", message: "rolled back" },
    },
    wanted: { digest: "old" },
    tasks: [swarmTask()],
    kind: "good",
  },
  {
    title: "one that the engine still takes back to it",
    service: {
      labels: { "stackwright.digest": "old" },
      update: { state: "rollback_started", message: "update rolled back" },
    },
    wanted: { digest: "old" },
    tasks: [swarmTask()],
    kind: "waiting",
    why: /takes its update back/,
  },
  {
    title: "one that the engine took back to another release than that",
    service: {
      labels: { "stackwright.digest": "new" },
      update: { state: "rollback_completed", message: "rolled back" },
    },
    wanted: { digest: "old" },
    tasks: [swarmTask()],
    kind: "failed",
  },
  {
    title: "an update that the engine calls complete, and a task that crashed after it",
    service: { update: { state: "completed", message: "" } },
    tasks: [failedTask(), swarmTask({ state: "ready", desired: "ready" })],
    kind: "waiting",
  },
  {
    title: "a job of which one of two tasks ended",
    service: { mode: job },
    tasks: [done(1), swarmTask({ slot: 2, desired: "complete" })],
    waitsForEnd: true,
    kind: "waiting",
    why: /1 of 2 tasks ended/,
  },
  {
    title: "the same when nobody waits for its end",
    service: { mode: job },
    tasks: [done(1), swarmTask({ slot: 2, desired: "complete" })],
    kind: "good",
  },
  {
    title: "a job whose run before was complete",
    service: { mode: job, iteration: 1 },
    tasks: [done(1), done(2)],
    kind: "waiting",
  },
];

describe("convergence()", () => {
  for (const { title, service, tasks, waitsForEnd = false, wanted = {}, kind, why } of CASES) {
    it(`takes ${title} for ${kind}`, () => {
      const found = convergence(swarmService(service), tasks, { waitsForEnd, ...wanted });
      assert.equal(found.kind, kind, JSON.stringify(found));
      if (why !== undefined) assert.match("why" in found ? found.why : "", why);
    });
  }
});
