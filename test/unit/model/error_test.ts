import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ERROR_CODES,
  formatProblem,
  isStackwrightError,
  messageOf,
  type Problem,
  StackwrightError,
  toStackwrightError,
} from "../../../src/model/mod.ts";

describe("StackwrightError", () => {
  it("StackwrightError() keeps code, message, cause and problems", () => {
    const cause = new Error("below");
    const problems = [{ file: "a.yaml", message: "is wrong" }];
    const error = new StackwrightError("config_invalid", "reading failed", { cause, problems });
    assert.ok(error instanceof Error);
    assert.equal(error.name, "StackwrightError");
    assert.equal(error.code, "config_invalid");
    assert.equal(error.message, "reading failed");
    assert.equal(error.cause, cause);
    assert.deepEqual(error.problems, problems);
  });

  it("StackwrightError() has no cause and no problems unless given", () => {
    const error = new StackwrightError("timeout", "too slow");
    assert.equal("cause" in error, false);
    assert.deepEqual(error.problems, []);
  });

  it("ERROR_CODES are sorted, so that a code is never in the list twice", () => {
    assert.deepEqual([...new Set(ERROR_CODES)].sort(), [...ERROR_CODES]);
  });
});

describe("isStackwrightError", () => {
  const error = new StackwrightError("timeout", "x");
  const table: [string, unknown, Parameters<typeof isStackwrightError>[1][], boolean][] = [
    ["ours, no code asked for", error, [], true],
    ["ours with the code", error, ["timeout"], true],
    ["ours with one of the codes", error, ["conflict", "timeout"], true],
    ["ours with another code", error, ["conflict"], false],
    ["another error", new Error("x"), [], false],
    ["a look-alike", { name: "StackwrightError", code: "timeout", message: "x" }, [], false],
    ["nothing", undefined, [], false],
  ];
  for (const [what, value, codes, expected] of table) {
    it(`isStackwrightError() says ${expected} for ${what}`, () => {
      assert.equal(isStackwrightError(value, ...codes), expected);
    });
  }
});

describe("toStackwrightError", () => {
  it("toStackwrightError() passes ours through", () => {
    const error = new StackwrightError("conflict", "x");
    assert.equal(toStackwrightError(error, "reading"), error);
  });

  const table: [string, unknown, string, string][] = [
    ["an error", new Error("disk on fire"), "internal", "reading failed: disk on fire"],
    ["a text", "broken", "internal", "reading failed: broken"],
    ["nothing", undefined, "internal", "reading failed: undefined"],
    ["an abort", new DOMException("stop", "AbortError"), "cancelled", "reading was cancelled"],
  ];
  for (const [what, thrown, code, message] of table) {
    it(`toStackwrightError() makes ${code} of ${what} and keeps it as the cause`, () => {
      const error = toStackwrightError(thrown, "reading");
      assert.equal(error.code, code);
      assert.equal(error.message, message);
      assert.equal(error.cause, thrown);
    });
  }
});

describe("messageOf", () => {
  it("messageOf() is the message of an error without its stack, and a text as it is", () => {
    assert.equal(messageOf(new TypeError("no")), "no");
    assert.equal(messageOf("no"), "no");
    assert.equal(messageOf(7), "7");
    assert.equal(messageOf(null), "null");
  });
});

describe("formatProblem", () => {
  const table: [Problem, string][] = [
    [{ file: "TZ", message: "m" }, "TZ: m"],
    [{ file: "a.yaml", line: 3, column: 7, message: "m" }, "a.yaml:3:7: m"],
    [{ file: "a.yaml", line: 3, message: "m" }, "a.yaml:3:1: m"],
    [{ file: "a.yaml", path: "build.args", message: "m" }, "a.yaml: build.args: m"],
    [{ file: "a.yaml", path: "", message: "m" }, "a.yaml: m"],
    [{ file: "a.yaml", document: 1, line: 1, column: 1, message: "m" }, "a.yaml:1:1: m"],
    [
      { file: "a.yaml", document: 2, line: 9, column: 2, path: "name", message: "m" },
      "a.yaml:9:2 (document 2): name: m",
    ],
  ];
  for (const [problem, text] of table) {
    it(`formatProblem() prints ${text}`, () => {
      assert.equal(formatProblem(problem), text);
    });
  }
});
