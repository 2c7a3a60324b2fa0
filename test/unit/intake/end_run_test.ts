import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endRun } from "../../../src/intake/end_run.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const SECRET = "s3cr3t-t0k3n";

/** A run with one target of each state that targets can be in. */
function createOpenRun() {
  const log = createRecordingLog();
  const runs = createRuns({ clock: createFakeClock() });
  const redactor = createRedactor();
  redactor.add(SECRET);
  runs.accept({ id: "run-1", trigger: "poll", repository: "h/o/r" });
  for (const status of ["pending", "running", "skipped", "failed", "succeeded"] as const) {
    runs.target("run-1", { context: "default", stack: status, status });
  }
  return { log, parts: { log, runs, redactor } };
}

describe("endRun()", () => {
  it("ends with a failed run the targets that were left open", () => {
    const { parts } = createOpenRun();
    const { targets } = endRun("run-1", { status: "failed", message: "no" }, parts);
    const states = Object.fromEntries(targets.map(({ stack, status }) => [stack, status]));
    assert.deepEqual(states, {
      pending: "failed",
      running: "failed",
      skipped: "skipped",
      failed: "failed",
      succeeded: "succeeded",
    });
  });

  it("leaves the targets of other runs as they were reported", () => {
    const { parts } = createOpenRun();
    const { targets } = endRun("run-1", { status: "succeeded", message: "" }, parts);
    assert.ok(targets.every(({ stack, status }) => stack === status));
  });

  it("redacts the message, in the run and in the log", () => {
    const { log, parts } = createOpenRun();
    const run = endRun("run-1", { status: "failed", message: `with ${SECRET}` }, parts);
    assert.equal(run.message, "with ***");
    assert.deepEqual(log.lines, [{
      level: "error",
      message: "run failed",
      fields: { status: "failed", repository: "h/o/r", message: "with ***" },
    }]);
  });

  it("says of a poll that had nothing to do only who wants to know everything", () => {
    const { log, parts } = createOpenRun();
    endRun("run-1", { status: "skipped", message: "no changes" }, parts);
    assert.deepEqual(log.lines.map(({ level }) => level), ["debug"]);
  });

  it("says that a poll's own failure is over where its stacks fail now", () => {
    const { log, parts } = createOpenRun();
    const failed = { status: "failed", message: "no", isTold: true, failure: "over" } as const;
    endRun("run-1", failed, parts);
    assert.deepEqual(log.lines.map(({ message }) => message), [
      "run failed: what the polls before it failed of is over",
    ]);
  });

  it("says a failure of a poll once, and when it is over", () => {
    const [again, over] = [createOpenRun(), createOpenRun()];
    endRun("run-1", { status: "failed", message: "no", failure: "again" }, again.parts);
    endRun("run-1", { status: "skipped", message: "no changes", failure: "over" }, over.parts);
    assert.deepEqual(again.log.lines.map(({ level }) => level), ["debug"]);
    assert.deepEqual(over.log.lines.map(({ level, message }) => [level, message]), [
      ["info", "run skipped: what the polls before it failed of is over"],
    ]);
  });

  it("counts the first end, and logs no other", () => {
    const { log, parts } = createOpenRun();
    endRun("run-1", { status: "skipped", message: "first" }, parts);
    const run = endRun("run-1", { status: "failed", message: "second" }, parts);
    assert.deepEqual([run.status, run.message], ["skipped", "first"]);
    assert.deepEqual(log.lines.map(({ message }) => message), ["run skipped"]);
  });
});
