import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inLanes } from "../../../scripts/lib/lanes.ts";

describe("inLanes()", () => {
  it("works on some at a time, the next when one is done, and keeps the order of what came of them", async () => {
    const begun: number[] = [];
    const ends: ((value: string) => void)[] = [];
    const all = inLanes([0, 1, 2, 3], 2, (item) => {
      begun.push(item);
      return new Promise<string>((resolve) => ends[item] = resolve);
    });
    const settled = () => new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual(begun, [0, 1]);
    ends[1]?.("one");
    await settled();
    assert.deepEqual(begun, [0, 1, 2]);
    ends[0]?.("zero");
    ends[2]?.("two");
    await settled();
    assert.deepEqual(begun, [0, 1, 2, 3]);
    ends[3]?.("three");
    assert.deepEqual(await all, ["zero", "one", "two", "three"]);
  });

  it("has nothing to do without items", async () => {
    assert.deepEqual(await inLanes([], 3, () => Promise.reject(new Error("called"))), []);
  });
});
