import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onceDone, remembered } from "../../../src/app/remember.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

describe("remembered", () => {
  it("remembered() asks again when the answer is too old, not before", async () => {
    const clock = createFakeClock();
    let asked = 0;
    const ask = remembered(clock, 1_000, () => Promise.resolve(++asked));
    assert.deepEqual([await ask(never), await ask(never)], [1, 1]);
    await clock.advance(999);
    assert.equal(await ask(never), 1);
    await clock.advance(1);
    assert.deepEqual([await ask(never), await ask(never)], [2, 2]);
  });

  it("remembered() asks anew where that is wanted, and remembers that answer", async () => {
    let asked = 0;
    const ask = remembered(createFakeClock(), 1_000, () => Promise.resolve(++asked));
    assert.deepEqual([await ask(never), await ask(never, { anew: true }), await ask(never)], [
      ...[1, 2, 2],
    ]);
  });

  it("remembered() remembers no failure, and no answer from before one", async () => {
    const clock = createFakeClock();
    const answers = [() => 1, () => fail(), () => 3];
    const ask = remembered(clock, 1_000, async () => await answers.shift()?.());
    assert.equal(await ask(never), 1);
    await clock.advance(1_000);
    await assert.rejects(ask(never), /down/);
    assert.equal(await ask(never), 3);
  });

  it("remembered() hands the signal on", async () => {
    const ask = remembered(createFakeClock(), 1_000, (signal) => Promise.resolve(signal));
    assert.equal(await ask(never), never);
  });
});

describe("onceDone", () => {
  it("onceDone() works once, and callers at the same time share the attempt", async () => {
    let worked = 0;
    const work = onceDone(() => Promise.resolve(++worked));
    assert.deepEqual(await Promise.all([work(never), work(never)]), [1, 1]);
    assert.equal(await work(never), 1);
  });

  it("onceDone() tries again after a failure, which all who waited get to know", async () => {
    let worked = 0;
    const work = onceDone(async () => ++worked === 1 ? await fail() : worked);
    const both = await Promise.allSettled([work(never), work(never)]);
    assert.deepEqual(both.map(({ status }) => status), ["rejected", "rejected"]);
    assert.equal(await work(never), 2);
    assert.equal(await work(never), 2);
  });
});

function fail(): Promise<never> {
  return Promise.reject(new Error("down"));
}
