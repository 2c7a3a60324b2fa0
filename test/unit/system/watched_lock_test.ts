import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { heapAfterCollection } from "../../fakes/heap.ts";

const signal = new AbortController().signal;
const nothing = () => Promise.resolve();

describe("createWatchedLock()", () => {
  it("lets one at a time hold a key", async () => {
    const lock = createWatchedLock();
    const order: string[] = [];
    const step = Promise.withResolvers<void>();
    const first = lock.run("a", async () => {
      await step.promise;
      order.push("first");
    }, signal);
    const second = lock.run("a", () => Promise.resolve(order.push("second")), signal);
    step.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(order, ["first", "second"]);
  });

  it("wasReleasedSince() tells a key that was let go of after a mark, and no other", async () => {
    const lock = createWatchedLock();
    await lock.run("before", nothing, signal);
    const mark = lock.mark();
    assert.equal(lock.wasReleasedSince("before", mark), false);
    await lock.run("after", nothing, signal);
    assert.equal(lock.wasReleasedSince("after", mark), true);
    assert.equal(lock.wasReleasedSince("never", mark), false);
    assert.equal(lock.wasReleasedSince("after", lock.mark()), false);
  });

  it("wasReleasedSince() counts who held it at the mark, not who holds it now", async () => {
    const lock = createWatchedLock();
    let mark = lock.mark();
    await lock.run("a", () => Promise.resolve(mark = lock.mark()), signal);
    await lock.run("a", () => {
      assert.equal(lock.wasReleasedSince("a", mark), true);
      assert.equal(lock.wasReleasedSince("a", lock.mark()), false);
      return Promise.resolve();
    }, signal);
  });

  it("wasReleasedSince() counts work that failed", async () => {
    const lock = createWatchedLock();
    const mark = lock.mark();
    await assert.rejects(lock.run("a", () => Promise.reject(new Error("no")), signal), /no/);
    assert.equal(lock.wasReleasedSince("a", mark), true);
  });

  it("remembers a limited number of keys, and lets none of the others count as unchanged", async () => {
    const lock = createWatchedLock();
    const before = await heapAfterCollection();
    const begin = lock.mark();
    await lock.run("first", nothing, signal);
    const name = "x".repeat(4000);
    for (let at = 0; at < 20_000; at++) {
      await lock.run(Buffer.from(`${at}${name}`).toString(), nothing, signal);
    }
    const grown = await heapAfterCollection() - before;
    assert.ok(grown < 56 << 20, `${grown >> 20} MiB`);
    assert.equal(lock.wasReleasedSince("first", begin), true);
    assert.equal(lock.wasReleasedSince("first", lock.mark()), false);
    const mark = lock.mark();
    await lock.run("first", nothing, signal);
    assert.equal(lock.wasReleasedSince("first", mark), true);
  });
});
