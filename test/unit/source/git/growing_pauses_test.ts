import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GrowingPauses } from "../../../../src/source/git/growing_pauses.ts";

describe("GrowingPauses", () => {
  it("are twice as long each, up to an hour, and short again after a day", async () => {
    let now = 0;
    const pauses = new GrowingPauses({
      now: () => new Date(now),
      uptime: () => 0,
      sleep: () => Promise.resolve(),
    });
    const minutes: number[] = [];
    const work = async () => {
      assert.equal(pauses.until(), undefined);
      await assert.rejects(pauses.before(() => Promise.reject(new Error("in vain"))), /in vain/);
      const end = pauses.until()?.getTime() ?? now;
      minutes.push((end - now) / 60_000);
      now = end - 1;
      assert.notEqual(pauses.until(), undefined);
      now = end;
    };
    for (let times = 0; times < 8; times++) await work();
    now += 25 * 3_600_000;
    await work();
    assert.deepEqual(minutes, [1, 2, 4, 8, 16, 32, 60, 60, 1]);
  });
});
