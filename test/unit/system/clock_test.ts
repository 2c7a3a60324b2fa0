import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSystemClock, systemClock } from "../../../src/system/clock.ts";

const HOUR = 3_600_000;

describe("systemClock", () => {
  it("sleep() ends by itself, the shorter one first", async () => {
    const order: number[] = [];
    const sleep = async (milliseconds: number) => {
      await systemClock.sleep(milliseconds, new AbortController().signal);
      order.push(milliseconds);
    };
    await Promise.all([sleep(40), sleep(1)]);
    assert.deepEqual(order, [1, 40]);
  });

  it("sleep() takes its time also where that is longer than a timer can be", async () => {
    const order: string[] = [];
    const long = createSystemClock(5).sleep(40, new AbortController().signal);
    const short = systemClock.sleep(20, new AbortController().signal);
    await Promise.all([
      long.then(() => order.push("long")),
      short.then(() => order.push("short")),
    ]);
    assert.deepEqual(order, ["short", "long"]);
  });

  it("sleep() leaves no listener on a signal that outlives it", async () => {
    const { signal } = new AbortController();
    const listeners: unknown[] = [];
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.push(args[1]);
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.splice(listeners.indexOf(args[1]), 1);
      remove(...args);
    };
    await systemClock.sleep(1, signal);
    assert.deepEqual(listeners, []);
  });

  it("sleep() rejects with the signal's reason when it is or gets aborted", async () => {
    const reason = new Error("stopped");
    await assert.rejects(systemClock.sleep(HOUR, AbortSignal.abort(reason)), reason);
    const stop = new AbortController();
    const rejected = assert.rejects(systemClock.sleep(HOUR, stop.signal), reason);
    stop.abort(reason);
    await rejected;
  });
});
