import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SharedMemory } from "../../../src/system/mod.ts";

describe("SharedMemory", () => {
  it("has the program with the most ended where all have too much together", () => {
    const shared = new SharedMemory(100).of("one");
    const ended: string[] = [];
    const program = (name: string) => () => void ended.push(name);
    const [small, large, last] = [program("small"), program("large"), program("last")];
    shared.note(small, 30);
    shared.note(large, 40);
    shared.note(large, 60);
    shared.note(last, 10);
    assert.deepEqual(ended, []);
    shared.note(last, 20);
    assert.deepEqual(ended, ["large"]);
    shared.leave(large);
    shared.note(last, 70);
    assert.deepEqual(ended, ["large"]);
  });

  it("has the largest of who has the most ended, not another owner's that is larger", () => {
    const shared = new SharedMemory(100);
    const ended: string[] = [];
    const program = (name: string, bytes: number, owner: string) =>
      shared.of(owner).note(() => void ended.push(name), bytes);
    program("one's", 25, "one");
    program("one's largest", 30, "one");
    program("the other's", 44, "other");
    assert.deepEqual(ended, []);
    program("the other's second", 2, "other");
    assert.deepEqual(ended, ["one's largest"]);
  });
});
