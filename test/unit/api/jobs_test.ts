import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JobOperationParts, listJobsOperation } from "../../../src/api/jobs.ts";
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
        repository: "",
      }]);
    const parts = { jobs, runs, timeZone: "UTC" } as unknown as JobOperationParts;
    const call = { signal: new AbortController().signal, log: createRecordingLog() };
    const lastOn = async (context: string) =>
      (await listJobsOperation(parts).call({ context }, call))[0]?.last_run?.job_id;
    assert.deepEqual([await lastOn("nas"), await lastOn("")], ["r", undefined]);
  });
});
