import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run, RunTarget } from "../../../src/model/mod.ts";
import { cancelBeforeChange } from "../../../src/intake/cancel_before_change.ts";

/** A store of which only the listeners are there. */
function createRuns() {
  const listeners = new Set<(run: Run) => void>();
  return {
    listeners,
    subscribe(listener: (run: Run) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change(id: string, statuses: readonly RunTarget["status"][]) {
      const at = new Date(0);
      const targets = statuses.map((status) => ({ context: "default", stack: "shop", status }));
      const rest = { repository: "", target: "", revision: "", message: "" };
      const run: Run = {
        ...rest,
        id,
        trigger: "poll",
        status: "running",
        targets,
        createdAt: at,
        updatedAt: at,
      };
      for (const listener of [...listeners]) listener(run);
    },
  };
}

describe("cancelBeforeChange()", () => {
  const cancelled = (...before: readonly RunTarget["status"][][]) => {
    const runs = createRuns();
    const [client, run] = [new AbortController(), new AbortController()];
    const cancel = () => run.abort();
    cancelBeforeChange({ runs, id: "one", client: client.signal, cancel });
    for (const statuses of before) runs.change("one", statuses);
    runs.change("other", ["running"]);
    client.abort();
    runs.change("one", ["pending"]);
    return run.signal.aborted;
  };

  it("cancels at once while nothing is changed", () => {
    for (const statuses of [[], ["pending"], ["skipped", "pending"]] as const) {
      assert.equal(cancelled([...statuses]), true);
    }
  });

  it("leaves a run that has changed anything to its end: what it removed may come back by its next step", () => {
    for (const status of ["running", "succeeded", "failed"] as const) {
      assert.equal(cancelled(["running", "pending"], [status, "pending"]), false, status);
    }
  });

  it("cancels for a client who has gone already, and leaves nothing behind", () => {
    const runs = createRuns();
    let cancelled = 0;
    const cancel = () => void cancelled++;
    const end = cancelBeforeChange({ runs, id: "one", client: AbortSignal.abort(), cancel });
    assert.equal(cancelled, 1);
    end();
    assert.equal(runs.listeners.size, 0);
  });
});
