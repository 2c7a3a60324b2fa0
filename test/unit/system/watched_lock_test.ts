import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { createWatchedLock, OVERTAKEN, type WatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
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

  it("lets the last one of a line wait alone, and nobody take a person's place but a person", async () => {
    const lock = createWatchedLock();
    const free = Promise.withResolvers<void>();
    const done: string[] = [];
    const wait = (name: string, since: number, { of = "c", isPersons = false } = {}) =>
      lock.inTurn("a", () => free.promise.then(() => void done.push(name)), signal, {
        line: { of, since, isPersons },
      }).catch((thrown) => void done.push(thrown === OVERTAKEN ? `${name} overtaken` : "?"));
    const holder = wait("holder", 1);
    await settle();
    const all = [
      holder,
      wait("second", 2),
      wait("other", 2, { of: "d" }),
      wait("fourth", 4),
      wait("late", 3),
      wait("person", 5, { isPersons: true }),
      wait("sixth", 6),
    ];
    free.resolve();
    await Promise.all(all);
    assert.deepEqual(done.filter((each) => each.endsWith("overtaken")).sort(), [
      ...["fourth overtaken", "late overtaken", "second overtaken"],
    ]);
    const entered = done.filter((each) => !each.endsWith("overtaken"));
    assert.deepEqual(entered, ["holder", "other", "person", "sixth"]);
  });

  it("tells who takes a place, first or last, that the other's work is its own now", async () => {
    const lock = createWatchedLock();
    const free = Promise.withResolvers<void>();
    const taken: string[] = [];
    const wait = (name: string, since: number, within = signal) =>
      lock.inTurn("a", () => free.promise, within, {
        line: { of: "c", since, isPersons: false, taken: () => taken.push(name) },
      }).catch(() => {});
    const all = [wait("holder", 1)];
    await settle();
    all.push(wait("third", 3));
    assert.deepEqual(taken, []);
    all.push(wait("second", 2));
    assert.deepEqual(taken, ["third"]);
    all.push(wait("gone", 4, AbortSignal.abort()));
    assert.deepEqual(taken, ["third"]);
    all.push(wait("last", 5));
    assert.deepEqual([...new Set(taken)], ["third", "last"]);
    free.resolve();
    await Promise.all(all);
  });

  it("inTurn() lends the key to others, but to nobody in turn, and has it back ahead of them", async () => {
    const lock = createWatchedLock();
    const [away, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const order: string[] = [];
    const note = (name: string) => () => Promise.resolve(order.push(name));
    const mark = lock.mark();
    const first = lock.inTurn(
      "a",
      async (slot) => {
        slot.leave();
        assert.equal(lock.wasReleasedSince("a", mark), false, "it was lent to nobody yet");
        await away.promise;
        assert.equal(lock.holder("a"), "me");
        await slot.takeAgain(signal);
        order.push("again");
        assert.equal(lock.wasReleasedSince("a", mark), true);
        back.resolve();
      },
      signal,
      { who: "me" },
    );
    const next = lock.inTurn("a", note("in turn"), signal, {});
    await settle();
    const other = lock.run("a", async () => {
      order.push("other");
      away.resolve();
      await Promise.resolve();
      assert.ok(lock.isBusy("a"));
    }, signal);
    await other;
    const late = back.promise.then(() => lock.run("a", note("late"), signal));
    await Promise.all([first, next, late]);
    assert.deepEqual(order.slice(0, 2), ["other", "again"]);
    assert.deepEqual(order.slice(2).sort(), ["in turn", "late"]);
    assert.deepEqual([lock.isBusy("a"), lock.holder("a")], [false, undefined]);
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

  /** Work under a key that goes on until it is ended, and its error once it is over. */
  function endless(lock: WatchedLock, keys: readonly string[]) {
    const state: { over?: Error; ask: () => void; began: number } = { ask() {}, began: 0 };
    const work = (within: AbortSignal, ask: () => void) => {
      Object.assign(state, { ask, began: state.began + 1 });
      return new Promise<never>((_, reject) => {
        if (within.aborted) reject(new Error("some call was aborted"));
        within.addEventListener("abort", () => reject(new Error("some call was aborted")));
      });
    };
    const isOver = () => state.over;
    const begin = () => lock.endable({ keys, isOver, work }, signal).catch((error) => error);
    return Object.assign(state, { begin, end: begin() });
  }

  it("ending() ends the work under its keys that is over, with its error, and no other", async () => {
    const lock = createWatchedLock();
    const [old, other, fresh] = [["a", "b"], ["c"], ["a"]].map((keys) => endless(lock, keys));
    assert.ok(old && other && fresh);
    await lock.ending(["b"], nothing);
    [old.over, other.over] = [new Error("handed over"), new Error("not asked")];
    await lock.ending(["a"], nothing);
    assert.equal(await old.end, old.over);
    const left = [other, fresh].map(({ end }) => Promise.race([end, Promise.resolve("goes on")]));
    assert.deepEqual(await Promise.all(left), ["goes on", "goes on"]);
    other.ask();
    assert.equal(await other.end, other.over);
  });

  it("ending() ends also what begins meanwhile, but nothing that begins after it", async () => {
    const lock = createWatchedLock();
    const work = endless(lock, ["a"]);
    work.over = new Error("handed over");
    await lock.ending(["a"], async () => {
      await work.end;
      assert.equal(await work.begin(), work.over);
    });
    const last = work.begin();
    assert.equal(await Promise.race([last, Promise.resolve("goes on")]), "goes on");
    work.ask();
    assert.equal(await last, work.over);
  });

  it("ends what is over within seconds of a change, and asks nothing while nothing changes", async () => {
    const clock = createFakeClock();
    const state = { version: 1, asked: 0 };
    const lock = createWatchedLock({
      clock,
      version() {
        state.asked++;
        if (state.version === 2) throw new Error("it cannot be read now");
        return state.version;
      },
    });
    const [first, second] = [endless(lock, ["a"]), endless(lock, ["b"])];
    await clock.advance(10_000);
    assert.equal(state.asked, 10);
    // What is taken back before anybody looks was never over.
    first.over = new Error("handed over");
    delete first.over;
    state.version = 2;
    await clock.advance(5_000);
    [first.over, state.version] = [new Error("handed over"), 3];
    await clock.advance(2_000);
    assert.equal(await first.end, first.over);
    assert.equal(await Promise.race([second.end, Promise.resolve("goes on")]), "goes on");
    [second.over, state.version] = [new Error("handed over"), 4];
    await clock.advance(2_000);
    assert.equal(await second.end, second.over);
    assert.equal(clock.sleepers, 0);
  });

  it("isBusy() tells a key that somebody holds, or waits for", async () => {
    const lock = createWatchedLock();
    await lock.run("a", () => {
      assert.deepEqual(["a", "b"].map((key) => lock.isBusy(key)), [true, false]);
      return Promise.resolve();
    }, signal);
    assert.equal(lock.isBusy("a"), false);
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
