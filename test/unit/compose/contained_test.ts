import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { containing } from "../../../src/compose/contained.ts";
import { randomFrom } from "../../fakes/random.ts";

describe("containing()", () => {
  it("says what looking for each of them says", () => {
    const random = randomFrom(7);
    const word = (longest: number) =>
      Array.from({ length: 1 + random(longest) }, () => "ab$"[random(3)]).join("");
    for (let round = 0; round < 300; round++) {
      const wanted = Array.from({ length: random(12) }, () => word(9) + word(3));
      const contains = containing(wanted);
      for (let each = 0; each < 30; each++) {
        const text = word(20);
        const expected = wanted.some((one) => text.includes(one));
        assert.equal(contains(text), expected, JSON.stringify({ wanted, text }));
      }
    }
  });

  it("takes a text of nothing but beginnings for one that has some, instead of comparing all", () => {
    const wanted = Array.from({ length: 5000 }, (_, index) => `${"a".repeat(1000)}${index}`);
    const contains = containing(wanted);
    assert.equal(contains("a".repeat(100_000)), true);
    assert.equal(contains("b".repeat(100_000)), false);
    assert.equal(contains(`b${wanted[4711]}b`), true);
  });
});
