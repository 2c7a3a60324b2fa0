import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findSwarmJobs } from "../../src/deploy/jobs/find_swarm_jobs.ts";
import { observeAll } from "../../src/deploy/observe.ts";
import { engineVerdicts } from "../../src/deploy/swarm/convergence.ts";
import { observedServices } from "../../src/deploy/swarm/observed_services.ts";
import type { Engine } from "../../src/docker/engine.ts";
import type { SwarmService, SwarmTask } from "../../src/docker/swarm.ts";
import { BEHAVIOUR_LABELS, LABELS } from "../../src/model/mod.ts";
import { swarmService, swarmTask } from "./deploy/swarm/swarm_values.ts";

const SERVICES = 1000;
/** Looks at one task for whatever is to be known of its service. */
const MOST_LOOKS = 50;
const STACK = "com.docker.stack.namespace";
const never = new AbortController().signal;

/** A swarm of scheduled jobs, each with a run and a task, and how often it was looked whose a task is. */
function largeSwarm() {
  let looks = 0;
  const TaskTemplate = { ContainerSpec: { Labels: { [BEHAVIOUR_LABELS.jobEnabled]: "true" } } };
  const services = Array.from({ length: SERVICES }, (_, at): SwarmService[] => {
    const name = `shop_job${at}`;
    const labels = { [STACK]: `shop${at % 100}`, [LABELS.jobTasks]: "1" };
    const run = { ...labels, [LABELS.jobOf]: name, [LABELS.jobRun]: "1" };
    const update = { state: "paused", message: "", startedAt: new Date(0).toISOString() };
    return [
      swarmService({ id: name, name, labels, spec: { TaskTemplate }, update }),
      swarmService({ id: `${name}-run`, name: `${name}-run`, labels: run }),
    ];
  }).flat();
  const tasks = services.map(({ id }) =>
    Object.defineProperty(swarmTask({}), "serviceId", {
      get: () => (looks++, id),
      enumerable: true,
    })
  );
  return { services, tasks, looks: () => looks };
}

function engineOf(services: readonly SwarmService[], tasks: readonly SwarmTask[]): Engine {
  const swarm = { services: () => Promise.resolve(services), tasks: () => Promise.resolve(tasks) };
  return { swarm, listContainers: () => Promise.resolve([]) } as unknown as Engine;
}

describe("a swarm of a thousand services", () => {
  const READERS: Readonly<
    Record<string, (services: SwarmService[], tasks: SwarmTask[]) => unknown>
  > = {
    "searched for jobs": (...swarm) => findSwarmJobs(engineOf(...swarm), { context: "c" }, never),
    "observed": (...swarm) => observedServices("shop", ...swarm),
    "observed, stack by stack": (...swarm) =>
      observeAll(engineOf(...swarm), never, { withServices: true }),
    "judged": (...swarm) => engineVerdicts("shop", ...swarm),
  };
  for (const [title, read] of Object.entries(READERS)) {
    it(`is ${title} without looking at each task for each service`, async () => {
      const { services, tasks, looks } = largeSwarm();
      await read(services, tasks);
      assert.ok(looks() <= MOST_LOOKS * tasks.length, `${looks()} looks at ${tasks.length} tasks`);
    });
  }

  it("finds the runs of each job", async () => {
    const { services, tasks } = largeSwarm();
    const jobs = await findSwarmJobs(engineOf(services, tasks), { context: "c" }, never);
    assert.equal(jobs.length, SERVICES);
    for (const { container, executions } of jobs) {
      assert.deepEqual(executions.map(({ name }) => name), [`${container.name}-run`]);
    }
  });

  it("is asked for the services of one stack where one job is searched for", async () => {
    const { services, tasks } = largeSwarm();
    const asked: unknown[] = [];
    const engine = engineOf(services, tasks);
    const answer = engine.swarm.services;
    engine.swarm.services = (labels, signal) => {
      asked.push(labels);
      return answer(labels, signal);
    };
    await findSwarmJobs(engine, { context: "c", stack: "shop1" }, never);
    assert.deepEqual(asked, [{ [STACK]: "shop1" }]);
  });
});
