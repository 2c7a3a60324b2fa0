import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKeyedQueue } from "../../../src/source/keyed_queue.ts";

describe("KeyedQueue.run()", () => {
  const signal = new AbortController().signal;

  it("lets one task at a time pass for each key, in order", async () => {
    const queue = createKeyedQueue();
    const log: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const first = queue.run("a", signal, async () => {
      log.push("first");
      await gate;
      log.push("first done");
    });
    const second = queue.run("a", signal, () => Promise.resolve(void log.push("second")));
    await queue.run("b", signal, () => Promise.resolve(void log.push("other key")));
    open();
    await Promise.all([first, second]);
    assert.deepEqual(log, ["first", "other key", "first done", "second"]);
  });

  it("goes on after a task that failed", async () => {
    const queue = createKeyedQueue();
    await assert.rejects(queue.run("a", signal, () => Promise.reject(new Error("no"))), /no/);
    assert.equal(await queue.run("a", signal, () => Promise.resolve(1)), 1);
  });

  it("gives up waiting when aborted, without letting others overtake", async () => {
    const queue = createKeyedQueue();
    const log: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const first = queue.run("a", signal, async () => {
      await gate;
      log.push("first");
    });
    const stop = new AbortController();
    const waiting = queue.run("a", stop.signal, () => Promise.resolve(void log.push("never")));
    const third = queue.run("a", signal, () => Promise.resolve(void log.push("third")));
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    open();
    await Promise.all([first, third]);
    assert.deepEqual(log, ["first", "third"]);
  });
});
