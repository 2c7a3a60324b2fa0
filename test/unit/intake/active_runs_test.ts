import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ActiveRuns } from "../../../src/intake/active_runs.ts";
import type { Run } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const run = { id: "run" } as Run;

describe("ActiveRuns", () => {
  it("endWithin() is true when all of them end in time, and leaves no timer behind", async () => {
    const clock = createFakeClock();
    const active = new ActiveRuns(clock);
    const ends = ["a", "b"].map((id) => {
      const { promise, resolve } = Promise.withResolvers<Run>();
      active.add(id, { controller: new AbortController(), finished: promise });
      return resolve;
    });
    const ended = active.endWithin(100);
    await clock.advance(99);
    for (const end of ends) end(run);
    assert.equal(await ended, true);
    assert.equal(clock.sleepers, 0);
  });

  it("endWithin() is false when one takes longer", async () => {
    const clock = createFakeClock();
    const active = new ActiveRuns(clock);
    const controller = new AbortController();
    active.add("a", { controller, finished: Promise.resolve(run) });
    active.add("b", { controller, finished: new Promise(() => {}) });
    const ended = active.endWithin(100);
    await clock.advance(100);
    assert.equal(await ended, false);
  });

  it("endWithin() does not wait when there are none", async () => {
    assert.equal(await new ActiveRuns(createFakeClock()).endWithin(100), true);
  });

  it("abort() aborts what is not over yet, of what it is told", () => {
    const active = new ActiveRuns(createFakeClock());
    const controllers = ["a", "b", "c", "d"].map((id) => {
      const controller = new AbortController();
      active.add(id, { controller, finished: Promise.resolve(run) });
      return controller;
    });
    active.remove("b");
    const reason = new Error("enough");
    active.abort(["a", "b", "c"], reason);
    const reasons = controllers.map(({ signal }) => signal.reason);
    assert.deepEqual(reasons, [reason, undefined, reason, undefined]);
    assert.deepEqual(active.ids, ["a", "c", "d"], "they are active until they are over");
  });
});
