import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withSequel } from "../../../src/model/mod.ts";

describe("withSequel()", () => {
  it("says what happened afterwards before the output of a container", () => {
    assert.equal(withSequel("a failed", "b is back"), "a failed; b is back");
    assert.equal(
      withSequel("web ended; last output:\none; two\n; last output:\nthree", "b is back"),
      "web ended; b is back; last output:\none; two\n; last output:\nthree",
    );
  });
});
