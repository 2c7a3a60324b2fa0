import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run, RunTarget } from "../../../src/model/mod.ts";
import { cancelBetween } from "../../../src/serve/mcp/cancel_between.ts";

/** A store of which only the listeners are there. */
function createRuns() {
  const listeners = new Set<(run: Run) => void>();
  return {
    listeners,
    subscribe(listener: (run: Run) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change(id: string, statuses: readonly RunTarget["status"][], trigger: Run["trigger"] = "poll") {
      const at = new Date(0);
      const targets = statuses.map((status) => ({ context: "default", stack: "shop", status }));
      const rest = { repository: "", target: "", revision: "", message: "" };
      const run: Run = {
        ...rest,
        id,
        trigger,
        status: "running",
        targets,
        createdAt: at,
        updatedAt: at,
      };
      for (const listener of [...listeners]) listener(run);
    },
  };
}

describe("the way out of a call", () => {
  it("is at once before anything is changed, and after", () => {
    for (const statuses of [[], ["pending"], ["succeeded", "pending"]] as const) {
      const runs = createRuns();
      const caller = new AbortController();
      const { signal, follow } = cancelBetween(runs, caller.signal);
      follow("one");
      runs.change("one", statuses);
      caller.abort(new Error("gone"));
      assert.equal(signal.aborted, true);
      assert.match(String(signal.reason), /gone/);
    }
  });

  it("waits for the end of every change", () => {
    const runs = createRuns();
    const caller = new AbortController();
    const { signal, follow } = cancelBetween(runs, caller.signal);
    follow("one");
    runs.change("one", ["running", "running"]);
    caller.abort();
    assert.equal(signal.aborted, false);
    runs.change("one", ["succeeded", "running"]);
    runs.change("other", []);
    assert.equal(signal.aborted, false);
    runs.change("one", ["succeeded", "failed"]);
    assert.equal(signal.aborted, true);
  });

  it("does not wait for jobs", () => {
    const runs = createRuns();
    const caller = new AbortController();
    const { signal, follow } = cancelBetween(runs, caller.signal);
    follow("one");
    runs.change("one", ["running"], "scheduled_job");
    caller.abort();
    assert.equal(signal.aborted, true);
  });

  it("is open for a caller who has gone already, and leaves nothing behind", () => {
    const runs = createRuns();
    const { signal, end } = cancelBetween(runs, AbortSignal.abort());
    assert.equal(signal.aborted, true);
    end();
    assert.equal(runs.listeners.size, 0);
  });
});
