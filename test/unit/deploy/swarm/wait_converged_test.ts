import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitConverged } from "../../../../src/deploy/swarm/wait_converged.ts";
import type { Swarm, SwarmService, SwarmTask } from "../../../../src/docker/swarm.ts";
import { systemClock } from "../../../../src/system/mod.ts";
import { swarmService, swarmTask } from "./swarm_values.ts";

/** Waits for some seconds of a clock that goes on by itself; returns how many looks that took. */
async function waitFor(
  tasks: (look: number) => SwarmTask[],
  { service = {}, image = "unchecked", seconds = 10 }: {
    readonly service?: Partial<SwarmService>;
    readonly seconds?: number;
    readonly image?: "checked" | "unchecked" | "elsewhere";
  } = {},
): Promise<number> {
  let [now, looks] = [0, 0];
  const swarm: Pick<Swarm, "services" | "tasks"> = {
    services: () => Promise.resolve([swarmService(service)]),
    tasks: () => Promise.resolve(looks < 1000 ? tasks(looks++) : assert.fail("it waits for ever")),
  };
  const defaults = image === "elsewhere"
    ? undefined
    : { command: [], environment: [], checksHealth: image === "checked" };
  await waitConverged({
    engine: { swarm: swarm as Swarm, imageDefaults: () => Promise.resolve(defaults) },
    clock: {
      ...systemClock,
      now: () => new Date(now),
      uptime: () => now,
      sleep: (milliseconds) => Promise.resolve(void (now += milliseconds)),
    },
    stack: "shop",
    services: new Map([["web", { waitsForEnd: false }]]),
    deadline: seconds * 1000,
    progress: () => {},
  }, new AbortController().signal);
  return looks;
}

/** A service whose tasks are never restarted. */
const once = {
  TaskTemplate: { ContainerSpec: { Image: "app:1" }, RestartPolicy: { Condition: "none" } },
};

/** The task of an engine that takes so long to start it, and tells of its end so many looks after that. */
function startsIn(milliseconds: number, endsAfter = Infinity) {
  const starts = Math.ceil(milliseconds / 1000);
  const at = (
    state: string,
    time: number,
    more: Partial<SwarmTask> = {},
  ) => [swarmTask({ id: "one", state, stateSince: new Date(time), ...more })];
  return (look: number) =>
    look <= starts
      ? at("starting", 0)
      : look <= starts + endsAfter
      ? at("running", milliseconds)
      : at("failed", milliseconds, { error: "task: non-zero exit (3)", exitCode: 3 });
}

describe("waitConverged()", () => {
  it("ends when the same tasks run for three looks", async () => {
    const task = swarmTask();
    assert.equal(await waitFor(() => [task]), 3);
  });

  it("looks three times at what runs only just before the deadline", async () => {
    const task = swarmTask();
    assert.equal(await waitFor((look) => look < 10 ? [] : [task]), 13);
  });

  it("waits for no more looks where a task starts in half a second", async () => {
    assert.equal(await waitFor(startsIn(600)), 2 + 3);
  });

  it("does not believe an engine under load that tells late of what has ended", async () => {
    const spec = { TaskTemplate: { ...once.TaskTemplate } };
    const tasks = (look: number) =>
      startsIn(1800, 3)(look).map((each) => ({ ...each, spec: spec.TaskTemplate }));
    const ends = () => waitFor(tasks, { service: { spec } });
    await assert.rejects(ends, { code: "unhealthy", message: /its task failed: .*exit \(3\)/ });
  });

  it("waits twice as long as a start took, also after the deadline, and no longer than 20 seconds", async () => {
    assert.equal(await waitFor(startsIn(1800)), 3 + 5);
    assert.equal(await waitFor((look) => startsIn(1800)(Math.max(0, look - 6))), 9 + 5);
    assert.equal(await waitFor((look) => startsIn(11_000)(look), { seconds: 20 }), 12 + 21);
  });

  it("believes a health check, which a start waits for", async () => {
    const checked = (Test: string[]) => ({
      spec: { TaskTemplate: { ContainerSpec: { Image: "app:1", Healthcheck: { Test } } } },
    });
    const looks = (Test: string[]) => {
      const service = checked(Test);
      const { TaskTemplate: spec } = service.spec;
      const tasks = (look: number) => startsIn(5000)(look).map((each) => ({ ...each, spec }));
      return waitFor(tasks, { service });
    };
    assert.equal(await looks(["CMD", "true"]), 6 + 3);
    assert.equal(await looks(["NONE"]), 6 + 11);
    assert.equal(await waitFor(startsIn(5000), { image: "checked" }), 6 + 3);
    assert.equal(await waitFor(startsIn(5000), { image: "elsewhere" }), 6 + 3);
  });

  it("gives up at the deadline on a service whose tasks end well and are replaced all the time", async () => {
    const ends = () => waitFor(() => [swarmTask({ state: "complete", exitCode: 0 })]);
    await assert.rejects(ends, { code: "timeout", message: /replaced all the time/ });
  });
});
