import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knowsImagesByContent } from "../../../../src/deploy/engine/container_labels.ts";

describe("knowsImagesByContent()", () => {
  const table = {
    "2.26.1-4": false,
    "v2.40.3": false,
    "5.3.1": false,
    "5.4.0": true,
    "v5.5.0": true,
  };
  for (const [version, expected] of Object.entries({ ...table, "6.0.0": true, "": false })) {
    it(`is ${expected} of compose ${JSON.stringify(version)}`, () => {
      assert.equal(knowsImagesByContent(version), expected);
    });
  }
});
