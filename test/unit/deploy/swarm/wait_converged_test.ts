import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitConverged } from "../../../../src/deploy/swarm/wait_converged.ts";
import type { Swarm, SwarmTask } from "../../../../src/docker/swarm.ts";
import { systemClock } from "../../../../src/system/mod.ts";
import { swarmService, swarmTask } from "./swarm_values.ts";

/** Waits for ten seconds of a clock that goes on by itself; returns how many looks that took. */
async function waitFor(tasks: (look: number) => SwarmTask[]): Promise<number> {
  let [now, looks] = [0, 0];
  const swarm: Pick<Swarm, "services" | "tasks"> = {
    services: () => Promise.resolve([swarmService()]),
    tasks: () => Promise.resolve(looks < 1000 ? tasks(looks++) : assert.fail("it waits for ever")),
  };
  await waitConverged({
    engine: { swarm: swarm as Swarm },
    clock: {
      ...systemClock,
      now: () => new Date(now),
      sleep: (milliseconds) => Promise.resolve(void (now += milliseconds)),
    },
    stack: "shop",
    services: new Map([["web", { waitsForEnd: false }]]),
    deadline: new Date(10_000),
    progress: () => {},
  }, new AbortController().signal);
  return looks;
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

  it("gives up at the deadline on a service whose tasks end well and are replaced all the time", async () => {
    const ends = () => waitFor(() => [swarmTask({ state: "complete", exitCode: 0 })]);
    await assert.rejects(ends, { code: "timeout", message: /replaced all the time/ });
  });
});
