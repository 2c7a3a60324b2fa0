import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endOfOutput, fewOf, wholeSeconds, withSequel } from "../../../src/model/mod.ts";

describe("fewOf()", () => {
  it("tells the first of many texts, each cut, and how many more there are", () => {
    assert.equal(fewOf(["a", "b"]), "a, b");
    assert.equal(fewOf(["a", "b", "c"], 2, "; "), "a; b and 1 more");
    const told = fewOf(Array.from({ length: 25_000 }, () => "y".repeat(4000)));
    assert.ok(told.length < 21_000 && told.endsWith("y… and 24980 more"), String(told.length));
  });
});

describe("withSequel()", () => {
  it("says what happened afterwards before the output of a container", () => {
    assert.equal(withSequel("a failed", "b is back"), "a failed; b is back");
    assert.equal(
      withSequel("web ended; last output:\none; two\n; last output:\nthree", "b is back"),
      "web ended; b is back; last output:\none; two\n; last output:\nthree",
    );
  });
});

describe("endOfOutput()", () => {
  it("has of what a container printed the line that says why, in one line", () => {
    assert.equal(endOfOutput("a failed: bad"), "a failed: bad");
    assert.equal(endOfOutput("a failed; last output:\nbegun\n  bad\n\n"), "a failed: bad");
    assert.equal(endOfOutput("a failed\nwith more"), "a failed");
  });
});

describe("wholeSeconds()", () => {
  it("leaves out the fractions", () => {
    assert.equal(wholeSeconds(new Date("2026-03-10T12:00:00.123Z")), "2026-03-10T12:00:00Z");
    assert.equal(wholeSeconds("2026-03-10T12:00:00.123+01:00"), "2026-03-10T12:00:00+01:00");
  });
});
