import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JobFacts, type JobOperationParts, listJobsOperation } from "../../../src/api/jobs.ts";
import { getRunOperation } from "../../../src/api/runs.ts";
import { errors } from "../../../src/model/mod.ts";
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

describe("a run of a job", () => {
  const createOne = (container: JobFacts["container"], message = "job tick was started") => {
    const runs = createRuns({ clock: createFakeClock() });
    for (const id of ["old", "new"]) {
      runs.accept({ id, trigger: "scheduled_job", repository: "scheduled:shop_tick" });
      runs.target(id, { context: "default", stack: "shop", status: "succeeded", message });
      runs.start(id);
      runs.finish(id, { status: "succeeded", message });
    }
    let asked = 0;
    const jobs: JobOperationParts["jobs"] = () => {
      asked++;
      return Promise.resolve(["wiki", "shop"].map((name) => ({
        key: { context: "default", name },
        ...{ service: "tick", name: "shop_tick", mode: "container", status: "", repository: "" },
        ...{ container, printed: () => Promise.resolve(`; last output:\n${name}`) },
      })));
    };
    return { runs, jobs, timeZone: "UTC", asked: () => asked };
  };
  const call = { signal: new AbortController().signal, log: createRecordingLog() };
  const shown = async (parts: ReturnType<typeof createOne>, id: string) => {
    const run = await getRunOperation(parts).call({ job_id: id }, call);
    return [run.status, run.message, run.deployments?.[0]?.status];
  };

  it("that was started, and failed later, is shown as failed with what it printed", async () => {
    const parts = createOne({ state: "exited", exitCode: 3 });
    const why = "its container was started, and exited with status 3; last output:\nshop";
    assert.deepEqual(await shown(parts, "new"), ["failed", why, "failed"]);
    // What the container says by now is about its last run.
    assert.deepEqual(await shown(parts, "old"), ["succeeded", "job tick was started", "succeeded"]);
  });

  it("that was waited for, and ended well, is what was recorded whatever is started later", async () => {
    const message = "job tick has run";
    const parts = createOne({ state: "exited", exitCode: 3 }, message);
    assert.deepEqual(await shown(parts, "new"), ["succeeded", message, "succeeded"]);
    const listed = await listJobsOperation(parts as unknown as JobOperationParts).call({}, call);
    assert.deepEqual(listed.map(({ last_run }) => last_run?.status), [undefined, "succeeded"]);
    assert.equal(parts.asked(), 1);
  });

  it("is what was recorded where it goes on, ended well, or the engine does not answer", async () => {
    const recorded = ["succeeded", "job tick was started", "succeeded"];
    for (
      const state of [{ state: "running", exitCode: undefined }, { state: "exited", exitCode: 0 }]
    ) {
      assert.deepEqual(await shown(createOne(state as JobFacts["container"]), "new"), recorded);
    }
    const parts = createOne({ state: "exited", exitCode: 3 });
    const away = { ...parts, jobs: () => Promise.reject(errors.engine_unreachable("away")) };
    assert.deepEqual(await shown(away, "new"), recorded);
    parts.runs.accept({ id: "poll", trigger: "poll", repository: "r" });
    await getRunOperation(parts).call({ job_id: "poll" }, call);
    assert.equal(parts.asked(), 0);
  });
});
