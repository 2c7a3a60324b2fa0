import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { within } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

describe("within()", () => {
  it("says whether something is over in time, and leaves no timer behind", async () => {
    const clock = createFakeClock();
    assert.equal(await within(Promise.resolve(), 1_000, clock, never), true);
    assert.equal(clock.sleepers, 0);
    const late = within(new Promise(() => {}), 1_000, clock, never);
    await clock.advance(1_000);
    assert.equal(await late, false);
  });

  it("rejects as the work does, or when it is aborted; what fails later is nobody's failure", async () => {
    const clock = createFakeClock();
    const broken = new Error("broken");
    await assert.rejects(within(Promise.reject(broken), 1_000, clock, never), broken);
    const stop = new AbortController();
    const work = Promise.withResolvers<void>();
    const stopped = assert.rejects(within(work.promise, 1_000, clock, stop.signal), broken);
    stop.abort(broken);
    await stopped;
    work.reject(new Error("too late"));
    assert.equal(clock.sleepers, 0);
  });
});
