import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withoutLabels } from "../../../../src/deploy/mod.ts";
import { stackKey } from "../../../../src/model/mod.ts";
import { runningContainer } from "../../../fakes/memory_engine.ts";

describe("withoutLabels()", () => {
  it("leaves a run nothing whose length an engine decides, and what finds its job", () => {
    const container = runningContainer("shop", "backup", { labels: { long: "x".repeat(1000) } });
    const job = { key: stackKey("", "shop"), service: "backup", scale: 2, swarm: "1" };
    const executions = [container, container];
    assert.deepEqual(withoutLabels({ ...job, container, executions }), {
      ...job,
      container: { ...container, labels: {} },
      executions: [],
    });
  });
});
