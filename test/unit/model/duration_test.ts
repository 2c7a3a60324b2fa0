import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  formatDuration,
  isStackwrightError,
  parseDuration,
  waitedText,
} from "../../../src/model/mod.ts";

describe("parseDuration", () => {
  const accepted: [number | string, number][] = [
    [0, 0],
    [-0, 0],
    [180, 180],
    [-5, -5],
    ["0", 0],
    ["-0", 0],
    ["180", 180],
    ["+180", 180],
    [" 180 ", 180],
    ["007", 7],
    ["10s", 10],
    ["+10s", 10],
    ["-10s", -10],
    ["-1h30m", -5400],
    ["3m", 180],
    ["1h", 3600],
    ["1h30m", 5400],
    ["30m1h", 5400],
    ["1h1h", 7200],
    ["1.5m", 90],
    [".5m", 30],
    ["1.h", 3600],
    ["0.5s0.5s", 1],
    ["1.1s0.9s", 2],
    ["0.1m", 6],
    ["1000ms", 1],
    ["1000000us", 1],
    ["1000000µs", 1],
    ["1000000μs", 1],
    ["1000000000ns", 1],
    ["999ms1000us", 1],
    ["2562047h", 9223369200],
  ];
  for (const [value, seconds] of accepted) {
    it(`parseDuration() reads ${JSON.stringify(value)} as ${seconds} seconds`, () => {
      assert.ok(Object.is(parseDuration(value), seconds), String(parseDuration(value)));
    });
  }

  const refused: [number | string, string][] = [
    ["", "expected seconds or a duration"],
    ["  ", "expected seconds or a duration"],
    ["s", "expected seconds or a duration"],
    [".s", "expected seconds or a duration"],
    ["10 s", "expected seconds or a duration"],
    ["10S", "expected seconds or a duration"],
    ["1d", "expected seconds or a duration"],
    ["1h30", "expected seconds or a duration"],
    ["1.5", "expected seconds or a duration"],
    ["1e3", "expected seconds or a duration"],
    ["0x10", "expected seconds or a duration"],
    ["1h-30m", "expected seconds or a duration"],
    ["--1h", "expected seconds or a duration"],
    ["ten", "expected seconds or a duration"],
    ["1.5s", "a whole number of seconds"],
    ["500ms", "a whole number of seconds"],
    [0.5, "a whole number of seconds"],
    [Number.NaN, "it is not a number of seconds"],
    [Number.POSITIVE_INFINITY, "it is not a number of seconds"],
    ["9007199254740993", "it is too large"],
    // There is no such instant: what counts from now would be no date.
    ["9000000000000s", "it is too large"],
    ["-99999999999999h", "it is too large"],
  ];
  for (const [value, why] of refused) {
    it(`parseDuration() refuses ${JSON.stringify(value).slice(0, 40)}: ${why}`, () => {
      assert.throws(() => parseDuration(value), (error) => {
        assert.ok(isStackwrightError(error, "bad_request"));
        assert.ok(error.message.startsWith(`${JSON.stringify(value)} is no duration: `));
        assert.ok(error.message.includes(why), error.message);
        return true;
      });
    });
  }
  it("parseDuration() refuses long texts before it looks at their parts, without repeating them", () => {
    assert.throws(() => parseDuration("9".repeat(400)), {
      code: "bad_request",
      message: "a duration has at most 100 characters, this one 400",
    });
    assert.equal(parseDuration("0s".repeat(49) + "1s"), 1);
  });
});

describe("formatDuration", () => {
  const table: [number, string][] = [
    [0, "0s"],
    [10, "10s"],
    [60, "1m0s"],
    [180, "3m0s"],
    [3600, "1h0m0s"],
    [5405, "1h30m5s"],
    [223200, "62h0m0s"],
    [-61, "-1m1s"],
  ];
  for (const [seconds, text] of table) {
    it(`formatDuration() prints ${seconds} seconds as ${text}, which parseDuration() reads`, () => {
      assert.equal(formatDuration(seconds), text);
      assert.equal(parseDuration(text), seconds);
    });
  }
});

describe("waitedText()", () => {
  it("is empty at first, then new every ten seconds, and after a minute every minute", () => {
    const at = (seconds: number) => seconds * 1000;
    const said = [0, 9.9, 10, 19, 59, 60, 119, 150].map((now) => waitedText(at(0), at(now)));
    assert.deepEqual(said, [
      "",
      "",
      " (10 s)",
      " (10 s)",
      " (50 s)",
      " (60 s)",
      " (60 s)",
      " (120 s)",
    ]);
    assert.equal(waitedText(at(5), at(25), at(184.5)), " (20 s of at most 180 s)");
  });
});
