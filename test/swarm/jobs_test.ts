/** Runs of scheduled jobs on a real swarm. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import process from "node:process";
import { findSwarmJobs } from "../../src/deploy/jobs/find_swarm_jobs.ts";
import { type JobOrder, JobRun } from "../../src/deploy/jobs/job_run.ts";
import { swarmJobs } from "../../src/deploy/jobs/swarm_jobs.ts";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { createLimiter, systemClock } from "../../src/system/mod.ts";
import { BUSYBOX_IMAGE } from "../fakes/busybox_image.ts";
import { findSwarm } from "../fakes/real_swarm.ts";
import { createRecordingLog } from "../fakes/recording_log.ts";

const swarm = await findSwarm();
const never = new AbortController().signal;
const stack = `jobs${crypto.randomUUID().slice(0, 8)}`;
const NAMESPACE = { "com.docker.stack.namespace": stack };
const SEVERAL: JobOrder = {
  mode: "one_off",
  stopServices: [{ project: stack, service: "web" }],
  stopTimeoutSeconds: 60,
};

if (swarm.unavailable !== undefined) {
  describe("scheduled jobs on the real swarm", () => {
    it(swarm.unavailable, { skip: true }, () => {});
  });
} else if (process.env["STACKS"] !== "sample") {
  describe("scheduled jobs on the real swarm", () => {
    let engine: EngineClient;
    before(async () => {
      engine = createEngine({ host: swarm.host });
      const web = { Replicated: { Replicas: 1 } };
      await make("web", ["sleep", "infinity"], { Mode: web });
      await make("backup", ["sh", "-c", "echo that went wrong; exit 7"], {
        Labels: { ...NAMESPACE, "stackwright.job.tasks": "1" },
        Mode: { ReplicatedJob: { MaxConcurrent: 0, TotalCompletions: 0 } },
      });
    });
    after(async () => {
      for (const { id } of await engine.swarm.services(NAMESPACE, never)) {
        await engine.swarm.removeService(id, never);
      }
      engine.close();
    });

    async function make(name: string, Args: string[], more: object): Promise<void> {
      const body = {
        Name: `${stack}_${name}`,
        Labels: NAMESPACE,
        TaskTemplate: {
          ContainerSpec: {
            Image: BUSYBOX_IMAGE,
            Args,
            Init: true,
            Labels: name === "backup" ? { "stackwright.job.enabled": "true" } : {},
          },
          RestartPolicy: { Condition: name === "backup" ? "none" : "any" },
        },
        ...more,
      };
      await engine.swarm.createService({ body, auth: "" }, never);
    }
    async function begin(spec: JobOrder, leaves = false) {
      const jobs = await findSwarmJobs(engine, { context: "default" }, never);
      const found = jobs.find(({ key }) => key.name === stack);
      assert.ok(found?.swarm !== undefined);
      const facts = {
        clock: systemClock,
        log: createRecordingLog(),
        found,
        spec,
        leaves: () => leaves,
        isTaken: () => false,
        making: createLimiter(8).run,
        progress: () => {},
        swarm: engine.swarm,
        engine,
        service: found.swarm,
        nextId: () => crypto.randomUUID(),
        auth: () => Promise.resolve(""),
        ready: () => Promise.resolve([]),
        requireStartable: () => Promise.resolve(),
        notes: { get: () => undefined, set() {}, remove() {} },
      };
      return { run: new JobRun(facts, swarmJobs(facts)), found };
    }
    const services = async () =>
      (await engine.swarm.services(NAMESPACE, never)).map(({ name, mode }) =>
        `${name.slice(stack.length + 1).replace(/-job-.*/, "-job")} ${
          mode.kind === "replicated" ? mode.replicas : mode.kind
        }`
      ).sort();
    const AT_REST = ["backup replicated-job", "web 1"];

    it("one off: stops a service, says how it ended, and puts all back", async () => {
      const { run } = await begin(SEVERAL);
      await run.begin(never);
      const during = ["backup replicated-job", "backup-stackwright-job replicated-job", "web 0"];
      assert.deepEqual(await services(), during);
      assert.equal(await run.end(never), 7);
      assert.equal(run.output, ": that went wrong");
      assert.deepEqual(await services(), AT_REST);
    });

    it("restart: runs the job's own service once more", async () => {
      const { run } = await begin({ ...SEVERAL, mode: "restart" });
      await run.begin(never);
      assert.equal(await run.end(never), 7);
      assert.deepEqual(await services(), AT_REST);
    });

    it("is left to the next process, which takes it over with what it stopped", async () => {
      const { run } = await begin(SEVERAL, true);
      await run.begin(never);
      const stop = AbortSignal.abort(new Error("the process ends"));
      await assert.rejects(run.end(stop), /the process ends/);
      const next = await begin(SEVERAL);
      const [execution] = next.found.executions;
      assert.ok(execution !== undefined);
      await next.run.adopt(execution.id, never);
      assert.equal(await next.run.end(never), 7);
      assert.deepEqual(await services(), AT_REST);
      const again = await begin(SEVERAL);
      await assert.rejects(again.run.adopt(execution.id, never), /its service is gone/);
    });
  });
}
