import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TaskProofs } from "../../../../src/deploy/swarm/task_proofs.ts";
import { swarmService, swarmTask } from "./swarm_values.ts";

describe("TaskProofs", () => {
  it("forgets tasks that a look has not found: an engine may tell of others each time", async () => {
    const unasked = () => Promise.resolve({ command: [], environment: [], checksHealth: false });
    const proofs = new TaskProofs({ imageDefaults: unasked });
    const at = (seconds: number) => new Date(seconds * 1000);
    const task = (state: string, seconds: number) =>
      swarmTask({ id: "one", state, stateSince: at(seconds) });
    const isProven = (seconds: number) =>
      proofs.areProven(
        swarmService(),
        [task("running", 5)],
        at(seconds),
        new AbortController().signal,
      );
    proofs.note([task("starting", 0)], at(1));
    proofs.note([task("running", 5)], at(6));
    assert.deepEqual([await isProven(15), await isProven(16)], [false, true]);
    proofs.note([], at(17));
    // It is new to a look that follows, whose start took no time that anybody saw.
    proofs.note([task("running", 5)], at(18));
    assert.equal(await isProven(18), true);
  });
});
