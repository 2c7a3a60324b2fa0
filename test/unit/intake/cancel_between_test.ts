import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run, RunTarget } from "../../../src/model/mod.ts";
import { cancelBetween } from "../../../src/intake/cancel_between.ts";

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

describe("cancelBetween()", () => {
  it("cancels at once before anything is changed, and after", () => {
    for (const statuses of [[], ["pending"], ["succeeded", "pending"]] as const) {
      const runs = createRuns();
      const [client, run] = [new AbortController(), new AbortController()];
      const cancel = () => run.abort();
      cancelBetween({ runs, id: "one", client: client.signal, cancel });
      runs.change("one", statuses);
      assert.equal(run.signal.aborted, false);
      client.abort();
      assert.equal(run.signal.aborted, true);
    }
  });

  it("waits for the end of every change", () => {
    const runs = createRuns();
    const [client, run] = [new AbortController(), new AbortController()];
    cancelBetween({ runs, id: "one", client: client.signal, cancel: () => run.abort() });
    runs.change("one", ["running", "running"]);
    client.abort();
    assert.equal(run.signal.aborted, false);
    runs.change("one", ["succeeded", "running"]);
    runs.change("other", []);
    assert.equal(run.signal.aborted, false);
    runs.change("one", ["succeeded", "failed"]);
    assert.equal(run.signal.aborted, true);
  });

  it("cancels for a client who has gone already, and leaves nothing behind", () => {
    const runs = createRuns();
    let cancelled = 0;
    const cancel = () => void cancelled++;
    const end = cancelBetween({ runs, id: "one", client: AbortSignal.abort(), cancel });
    assert.equal(cancelled, 1);
    end();
    assert.equal(runs.listeners.size, 0);
  });
});
