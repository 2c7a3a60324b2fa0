import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JobFacts, type JobOperationParts, listJobsOperation } from "../../../src/api/jobs.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("the list of jobs", () => {
  it("has no last run of a job of the same name on another context", async () => {
    const runs = createRuns({ clock: createFakeClock() });
    runs.accept({ id: "r", trigger: "scheduled_job", repository: "scheduled:shop_backup" });
    runs.target("r", { context: "nas", stack: "shop", status: "failed" });
    const jobs: JobOperationParts["jobs"] = (context) =>
      Promise.resolve([{
        key: { context, name: "shop" },
        service: "backup",
        name: "shop_backup",
        mode: "swarm",
        status: "created",
        container: { state: "created", exitCode: undefined },
        repository: "",
      }]);
    const parts = { jobs, runs, timeZone: "UTC" } as unknown as JobOperationParts;
    const call = { signal: new AbortController().signal, log: createRecordingLog() };
    const lastOn = async (context: string) =>
      (await listJobsOperation(parts).call({ context }, call))[0]?.last_run?.job_id;
    assert.deepEqual([await lastOn("nas"), await lastOn("")], ["r", undefined]);
  });

  it("has a last run that was started only as failed where its container failed", async () => {
    const runs = createRuns({ clock: createFakeClock() });
    const repository = "scheduled:shop_tick";
    runs.accept({ id: "r", trigger: "scheduled_job", repository });
    const message = "job tick was started";
    runs.target("r", { context: "default", stack: "shop", status: "succeeded", message });
    runs.start("r");
    runs.finish("r", { status: "succeeded", message });
    let container: JobFacts["container"] = { state: "running", exitCode: undefined };
    const jobs: JobOperationParts["jobs"] = () =>
      Promise.resolve([{
        key: { context: "default", name: "shop" },
        ...{ service: "tick", name: "shop_tick", mode: "container", status: "", repository: "" },
        container,
      }]);
    const parts = { jobs, runs, timeZone: "UTC" } as unknown as JobOperationParts;
    const call = { signal: new AbortController().signal, log: createRecordingLog() };
    const last = async () => {
      const run = (await listJobsOperation(parts).call({}, call))[0]?.last_run;
      const [target] = run?.deployments ?? [];
      return [run?.status, run?.message, target?.status, target?.message];
    };
    const started = ["succeeded", message, "succeeded", message];
    assert.deepEqual(await last(), started);
    container = { state: "exited", exitCode: 0 };
    assert.deepEqual(await last(), started);
    container = { state: "exited", exitCode: 3 };
    const failure = "its container was started, and exited with status 3";
    assert.deepEqual(await last(), ["failed", failure, "failed", failure]);
  });
});
