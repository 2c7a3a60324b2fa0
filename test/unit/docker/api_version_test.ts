import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  chooseApiVersion,
  compareVersions,
  NEWEST_API,
  OLDEST_API,
} from "../../../src/docker/api_version.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

describe("chooseApiVersion()", () => {
  const cases = [
    ["the engine's when it is older", { newest: "1.45", oldest: "1.24" }, "", "1.45"],
    ["ours when the engine is newer", { newest: "1.99", oldest: "1.44" }, "", NEWEST_API],
    ["ours when both are equal", { newest: NEWEST_API }, "", NEWEST_API],
    ["the oldest we can work with", { newest: OLDEST_API }, "", OLDEST_API],
    ["the override, whatever the engine says", { newest: "1.30" }, "1.43", "1.43"],
  ] as const;
  for (const [title, versions, override, expected] of cases) {
    it(`is ${title}`, () => assert.equal(chooseApiVersion(versions, override), expected));
  }

  const failures = [
    ["the engine is too old", { newest: "1.40" }, "", "unsupported", /1\.40 at most/],
    ["the engine does not say", { newest: "" }, "", "unsupported", /does not say which/],
    ["it says a path", { newest: "1.44.0/../x" }, "", "unsupported", /does not say which/],
    ["the engine is too new", { newest: "2.9", oldest: "2.0" }, "", "unsupported", /Stackwright/],
    ["the override is none", { newest: "1.45" }, "latest", "settings_invalid", /latest/],
  ] as const;
  for (const [title, versions, override, code, message] of failures) {
    it(`throws ${code} when ${title}`, () => {
      assert.throws(
        () => chooseApiVersion(versions, override),
        (error) => isStackwrightError(error, code) && message.test(error.message),
      );
    });
  }
});

describe("compareVersions()", () => {
  it("compares numbers, not texts", () => {
    assert.ok(compareVersions("1.9", "1.41") < 0);
    assert.ok(compareVersions("2.0", "1.99") > 0);
    assert.equal(compareVersions("1.45", "1.45"), 0);
  });
});
