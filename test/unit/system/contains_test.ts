import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contains } from "../../../src/system/mod.ts";
import { takesAtMost } from "../processor_time.ts";

describe("contains()", () => {
  it("says the same as includes()", () => {
    // A generator with a seed: texts of two letters, so that parts nearly fit everywhere.
    let state = 7;
    const letter = () => "ab"[(state = (state * 48271) % 2147483647) % 2] ?? "";
    const random = (length: number) => Array.from({ length }, letter).join("");
    for (let at = 0; at < 300; at++) {
      const text = random(900);
      const part = text.slice(at, at + 190 + at % 50);
      for (
        const each of [part, `${part}a`, `${part}b`, `b${part.slice(1)}`, random(210), "", "ab"]
      ) {
        assert.equal(contains(text, each), text.includes(each));
      }
    }
    assert.equal(contains("a".repeat(300), "a".repeat(301)), false);
  });

  it("takes time in proportion to both, also when they say the same again and again", async () => {
    const text = "a".repeat(4_000_000);
    const part = `${"a".repeat(30_000)}b${"a".repeat(30_000)}`;
    assert.ok(await takesAtMost(1000, () => assert.equal(contains(text, part), false)));
  });
});
