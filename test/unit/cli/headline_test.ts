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
});
