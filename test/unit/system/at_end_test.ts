import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atEnd } from "../../../src/system/mod.ts";

describe("atEnd()", () => {
  it("does its work when the block ends, once, by whatever way, after what was awaited there", async () => {
    const done: string[] = [];
    const block = async (fails: boolean) => {
      using _ = atEnd(() => done.push("end"));
      await Promise.resolve();
      done.push("work");
      if (fails) throw new Error("it fails");
      return await Promise.resolve("answer");
    };
    assert.equal(await block(false), "answer");
    await assert.rejects(block(true), /^Error: it fails$/);
    assert.deepEqual(done, ["work", "end", "work", "end"]);
  });
});
