import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FairReading } from "../../../src/serve/fair_reading.ts";

/** A connection whose runtime says what is done with it. */
function connection(reading = true) {
  const done: string[] = [];
  const reader = {
    reading,
    readStop: () => done.push("stop"),
    readStart: () => done.push("start"),
  };
  return { done, reader, _handle: reader as typeof reader | null };
}

const MUCH = 64 * 1024;
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("FairReading", () => {
  it("reads a connection that sends much once, and again when others had their turn", async () => {
    const reading = new FairReading();
    const one = connection();
    reading.took(one, MUCH);
    assert.deepEqual(one.done, ["stop"]);
    while (one.done.length < 2) await later();
    assert.deepEqual(one.done, ["stop", "start"]);
  });

  it("reads few of them at a time, the oldest first", async () => {
    const reading = new FairReading();
    const order: number[] = [];
    let [together, most] = [0, 0];
    const all = Array.from({ length: 50 }, (_, at) => {
      const each = connection();
      each.reader.readStart = () => {
        most = Math.max(most, ++together);
        queueMicrotask(() => together = 0);
        return order.push(at);
      };
      return each;
    });
    for (const each of all) reading.took(each, MUCH);
    while (order.length < all.length) await later();
    assert.deepEqual(order, all.map((_, at) => at));
    assert.ok(most <= 8, String(most));
  });

  it("leaves alone who sends little, what is no HTTP, and where nothing can be stopped", async () => {
    const reading = new FairReading();
    const [one, paused] = [connection(), connection(false)];
    for (const bytes of [100, -1]) reading.took(one, bytes);
    for (const each of [paused, {}, { _handle: null }, { _handle: {} }]) reading.took(each, MUCH);
    await later();
    assert.deepEqual([...one.done, ...paused.done], []);
  });

  it("does not go on with who was closed, or does not keep up, meanwhile", async () => {
    const reading = new FairReading();
    const [closed, slow, last] = [connection(), connection(), connection()];
    for (const each of [closed, slow, last]) reading.took(each, MUCH);
    closed._handle = null;
    slow.reader.reading = false;
    while (last.done.length < 2) await later();
    assert.deepEqual([closed.done, slow.done], [["stop"], ["stop"]]);
  });
});
