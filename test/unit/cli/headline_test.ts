import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headline, inTable } from "../../../src/cli/headline.ts";

describe("headline()", () => {
  const table: readonly (readonly [string, string])[] = [
    ["all is well", "all is well"],
    ["first\nsecond", "first"],
    ["web stopped with exit code 3; last output:\noh no", "web stopped with exit code 3"],
    ["", ""],
  ];
  for (const [message, expected] of table) {
    it(`of ${JSON.stringify(message)} is ${JSON.stringify(expected)}`, () =>
      assert.equal(headline(message), expected));
  }
});

describe("inTable()", () => {
  it("cuts what is longer than a line, and nothing else", () => {
    assert.equal(inTable("x".repeat(120)), "x".repeat(120));
    assert.equal(inTable("x".repeat(121)), `${"x".repeat(119)}…`);
  });

  it("cuts no command away, which says what to do", () => {
    for (const before of [80, 100, 113, 119, 150]) {
      const text = `${"x".repeat(before)} end that first (stackwright resume shop)`;
      const cut = inTable(text);
      assert.equal(cut.length, Math.min(120, text.length), cut);
      assert.match(cut, /stackwright resume shop\)?$/);
    }
    const long = `${"x".repeat(110)} stackwright forget ${"y".repeat(110)}`;
    assert.equal(inTable(long), `${long.slice(0, 119)}…`);
  });
});
