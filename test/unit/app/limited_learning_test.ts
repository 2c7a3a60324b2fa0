import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limitedLearning } from "../../../src/app/limited_learning.ts";
import { formatStackKey, type StackKey, stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const [SHOP, OTHER] = [stackKey("", "shop"), stackKey("", "other")];
const MINUTES_MS = 60_000;

/** Waits of which each lasts until a test ends it. */
function createWorld() {
  const clock = createFakeClock();
  const ends = new Map<string, () => void>();
  const learn = limitedLearning((key) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(formatStackKey(key), resolve);
    return promise;
  }, clock);
  const ended: string[] = [];
  return {
    clock,
    ended,
    wait: (name: string, key: StackKey, signal = never) =>
      learn(key, signal).then(() => ended.push(name), () => ended.push(`${name} aborted`)),
    know: async (key: StackKey) => {
      ends.get(formatStackKey(key))?.();
      await clock.advance(0);
    },
  };
}

describe("limitedLearning()", () => {
  it("lets all who wait for a stack wait as long together as one may", async () => {
    const { clock, ended, wait } = createWorld();
    wait("first", SHOP);
    await clock.advance(3 * MINUTES_MS);
    wait("second", SHOP);
    wait("other", OTHER);
    await clock.advance(2 * MINUTES_MS);
    assert.deepEqual(ended, ["first", "second"]);
    wait("third", SHOP);
    await clock.advance(0);
    assert.deepEqual(ended, ["first", "second", "third"]);
    await clock.advance(3 * MINUTES_MS);
    assert.equal(ended.at(-1), "other");
  });

  it("begins anew where the secrets were known in between", async () => {
    const { clock, ended, know, wait } = createWorld();
    wait("first", SHOP);
    await clock.advance(5 * MINUTES_MS);
    await know(SHOP);
    wait("second", SHOP);
    await clock.advance(4 * MINUTES_MS);
    assert.deepEqual(ended, ["first"]);
    await know(SHOP);
    assert.deepEqual(ended, ["first", "second"]);
    assert.equal(clock.sleepers, 0);
  });

  it("ends the wait of the one whose signal is aborted, and no other's", async () => {
    const { clock, ended, know, wait } = createWorld();
    const gone = new AbortController();
    wait("first", SHOP, gone.signal);
    wait("second", SHOP);
    gone.abort(new Error("the client went away"));
    await clock.advance(0);
    assert.deepEqual(ended, ["first aborted"]);
    await know(SHOP);
    assert.deepEqual(ended, ["first aborted", "second"]);
  });
});
