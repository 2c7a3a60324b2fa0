import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPace, LONGEST_BURST_MS, QUIET_MS } from "../../../src/intake/pace.ts";
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
  it("lets who comes alone begin at once", async () => {
    const { pace, clock } = createSite();
    assert.equal(pace.arrive(), true);
    await clock.advance(QUIET_MS);
    assert.equal(pace.arrive(), true);
  });

  it("makes a burst wait until nobody comes any more", async () => {
    const { pace, clock } = createSite();
    assert.deepEqual([1, 2, 3].map(() => pace.arrive()), [true, false, false]);
    const calm = pace.calm(never);
    await clock.advance(QUIET_MS);
    assert.equal(await isCalm(calm), false, "others came in this time");
    await clock.advance(QUIET_MS - 1);
    assert.equal(await isCalm(calm), false);
    await clock.advance(1);
    assert.equal(await isCalm(calm), true);
    assert.equal(await isCalm(pace.calm(never)), true, "nothing is left of it");
  });

  it("goes on though requests never stop", async () => {
    const { pace, clock } = createSite();
    pace.arrive();
    pace.arrive();
    const calm = pace.calm(never);
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
    assert.equal(await isCalm(pace.calm(AbortSignal.abort())), true);
    const client = new AbortController();
    const [one, other] = [pace.calm(client.signal), pace.calm(never)];
    client.abort();
    assert.deepEqual([await isCalm(one), await isCalm(other)], [true, false]);
    closing.abort();
    assert.equal(await isCalm(other), true);
    assert.equal(clock.sleepers, 0);
  });
});
