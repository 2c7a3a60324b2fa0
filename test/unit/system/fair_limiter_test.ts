import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFairLimiter } from "../../../src/system/mod.ts";
import { settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

/** Pieces of work in the names of their first letters, which run until a test ends them. */
function createWork(slots: number, now: () => number = () => 0) {
  const limiter = createFairLimiter(slots, now);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    begin: (name: string, signal: AbortSignal = never) => {
      const work = limiter.run(name.charAt(0), () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      }, signal);
      work.catch(() => {});
      return work;
    },
    async end(name: string) {
      ends.get(name)?.();
      await settle();
    },
  };
}

describe("createFairLimiter()", () => {
  it("lets names take turns, whatever each has waiting", async () => {
    const work = createWork(1);
    for (const name of ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]) work.begin(name);
    await settle();
    for (let at = 0; at < 6; at++) await work.end(work.started[at] ?? "");
    assert.deepEqual(work.started, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("lets who used little go before who used much, until that is long ago", async () => {
    let time = 0;
    const work = createWork(1, () => time);
    const run = async (name: string, milliseconds: number) => {
      time += milliseconds;
      await work.end(name);
    };
    for (const name of ["a1", "a2", "a3", "b1", "b2", "b3"]) work.begin(name);
    await settle();
    await run("a1", 23_000);
    for (const name of ["b1", "b2", "b3"]) await run(name, 100);
    assert.deepEqual(work.started, ["a1", "b1", "b2", "b3", "a2"]);
    work.begin("b4");
    time += 60 * 60 * 1000;
    work.begin("c1");
    await run("a2", 0);
    assert.equal(work.started.at(-1), "b4");
  });

  it("gives a slot to who has the fewest, and all of them to one who is alone", async () => {
    const work = createWork(2);
    for (const name of ["a1", "a2", "a3", "b1", "a4"]) work.begin(name);
    await settle();
    assert.deepEqual(work.started, ["a1", "a2"]);
    await work.end("a1");
    assert.deepEqual(work.started, ["a1", "a2", "b1"]);
    work.begin("b2");
    await work.end("b1");
    assert.deepEqual(work.started.at(-1), "b2");
    await work.end("a2");
    assert.deepEqual(work.started.at(-1), "a3");
  });

  it("loses no slot to who gives up, and lets the next one in", async () => {
    const work = createWork(1);
    const stop = new AbortController();
    work.begin("a1");
    const given = work.begin("b1", stop.signal);
    const last = work.begin("c1");
    await settle();
    stop.abort(new Error("enough"));
    await assert.rejects(given, /enough/);
    await assert.rejects(work.begin("d1", AbortSignal.abort(new Error("late"))), /late/);
    await work.end("a1");
    await work.end("c1");
    await last;
    assert.deepEqual(work.started, ["a1", "c1"]);
  });

  it("frees the slot of work that fails", async () => {
    const limiter = createFairLimiter(0);
    await assert.rejects(limiter.run("a", () => Promise.reject(new Error("no")), never), /no/);
    assert.equal(await limiter.run("a", () => Promise.resolve(1), never), 1);
  });
});
