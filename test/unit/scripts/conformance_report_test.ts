import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judgeScenario, reportOf, scenarioOf } from "../../../scripts/lib/conformance_report.ts";

const passed = (id: string) => ({ id, status: "SUCCESS" });
const failed = (id: string) => ({ id, status: "FAILURE", errorMessage: "not so" });

describe("judgeScenario()", () => {
  it("tells what does not apply from what failed", () => {
    const scenario = judgeScenario("tools-call-image", [
      failed("tools-call-image"),
      passed("wire-schema-valid"),
      { id: "advice", status: "WARNING" },
      { id: "other", status: "SKIPPED" },
    ]);
    assert.deepEqual(scenario, {
      name: "tools-call-image",
      passed: 1,
      inapplicable: [{ check: "tools-call-image", why: "it calls tools of the suite's own" }],
      failed: [],
    });
    assert.deepEqual(judgeScenario("tools-list", [failed("tools-list")]).failed, [
      "tools-list: not so",
    ]);
  });

  it("excuses single checks of scenarios that apply, and no message of a wrong form", () => {
    const { inapplicable, failed: faults } = judgeScenario("server-stateless", [
      failed("sep-2575-server-sends-subscription-ack"),
      failed("sep-2575-http-unknown-method-404"),
    ]);
    assert.equal(inapplicable.length, 1);
    assert.deepEqual(faults, ["sep-2575-http-unknown-method-404: not so"]);
    assert.deepEqual(judgeScenario("prompts-list", [failed("wire-schema-valid")]).failed.length, 1);
  });
});

describe("scenarioOf()", () => {
  it("reads the name of a directory with results", () => {
    const time = "2026-11-22T12-10-18-833Z";
    assert.equal(scenarioOf(`server-ping-${time}`), "ping");
    assert.equal(scenarioOf(`server-server-initialize-${time}`), "server-initialize");
    assert.equal(scenarioOf("more"), undefined);
  });
});

describe("reportOf()", () => {
  it("passes what failed nowhere and passed somewhere", () => {
    const ping = judgeScenario("ping", [passed("ping")]);
    const tasks = judgeScenario("tasks-lifecycle", [failed("one"), failed("two")]);
    const { lines, passes } = reportOf([ping, tasks]);
    assert.equal(passes, true);
    assert.deepEqual(lines, [
      "passed  ping: 1 passed",
      "-       tasks-lifecycle: 0 passed",
      "          2 inapplicable: the extension is not offered",
      "2 scenarios: 1 checks passed, 2 do not apply, 0 failed",
    ]);
    assert.equal(reportOf([tasks]).passes, false);
    assert.equal(reportOf([ping, judgeScenario("ping", [failed("ping")])]).passes, false);
  });
});
