import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPace, LONGEST_BURST_MS, MOMENT_MS, QUIET_MS } from "../../../src/intake/pace.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

function createSite() {
  const clock = createFakeClock();
  const closing = new AbortController();
  return { clock, closing, pace: createPace(clock, closing.signal) };
}

const never = new AbortController().signal;

/** Whether it is calm now, without time going by. */
async function isCalm(wait: Promise<void>): Promise<boolean> {
  let calm = false;
  void wait.then(() => calm = true);
  await settle();
  return calm;
}

describe("the pace", () => {
  it("lets who comes alone begin after a moment", async () => {
    const { pace, clock } = createSite();
    for (const time of ["first", "again when the burst of one is over"]) {
      assert.equal(pace.arrive(), "moment", time);
      const calm = pace.calm("moment", never);
      assert.equal(await isCalm(calm), false);
      await clock.advance(MOMENT_MS);
      assert.equal(await isCalm(calm), true);
      await clock.advance(QUIET_MS - MOMENT_MS);
    }
  });

  it("lets the first one wait as long as those that came in the same moment", async () => {
    const { pace, clock } = createSite();
    const waits = [pace.arrive(), pace.arrive()];
    assert.deepEqual(waits, ["moment", "end"]);
    const calm = waits.map((each) => pace.calm(each, never));
    await clock.advance(2 * QUIET_MS - 1);
    assert.deepEqual([await isCalm(calm[0]!), await isCalm(calm[1]!)], [false, false]);
    await clock.advance(1);
    assert.deepEqual([await isCalm(calm[0]!), await isCalm(calm[1]!)], [true, true]);
  });

  it("lets nobody wait for who came later than in a moment", async () => {
    const { pace, clock } = createSite();
    const first = pace.calm(pace.arrive(), never);
    await clock.advance(MOMENT_MS);
    const second = pace.calm(pace.arrive(), never);
    assert.deepEqual([await isCalm(first), await isCalm(second)], [true, false]);
  });

  it("makes a burst wait until nobody comes any more", async () => {
    const { pace, clock } = createSite();
    assert.deepEqual([1, 2, 3].map(() => pace.arrive()), ["moment", "end", "end"]);
    const calm = pace.calm("end", never);
    await clock.advance(QUIET_MS);
    assert.equal(await isCalm(calm), false, "others came in this time");
    await clock.advance(QUIET_MS - 1);
    assert.equal(await isCalm(calm), false);
    await clock.advance(1);
    assert.equal(await isCalm(calm), true);
    assert.equal(await isCalm(pace.calm("end", never)), true, "nothing is left of it");
  });

  it("goes on though requests never stop", async () => {
    const { pace, clock } = createSite();
    pace.arrive();
    pace.arrive();
    const calm = pace.calm("end", never);
    for (let time = 0; time < LONGEST_BURST_MS; time += 10) {
      assert.equal(await isCalm(calm), false, `after ${time} ms`);
      pace.arrive();
      await clock.advance(10);
    }
    assert.equal(await isCalm(calm), true);
  });

  it("holds nobody back who gives up, or when the service ends", async () => {
    const { pace, clock, closing } = createSite();
    pace.arrive();
    pace.arrive();
    assert.equal(await isCalm(pace.calm("end", AbortSignal.abort())), true);
    const client = new AbortController();
    const [one, other] = [pace.calm("end", client.signal), pace.calm("end", never)];
    client.abort();
    assert.deepEqual([await isCalm(one), await isCalm(other)], [true, false]);
    closing.abort();
    assert.equal(await isCalm(other), true);
    assert.equal(clock.sleepers, 0);
  });
});
