import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError, StackwrightError } from "../../../src/model/mod.ts";
import { partsFor, type PipelineParts } from "../../../src/pipeline/parts.ts";

const { signal } = new AbortController();

describe("the parts for a stack", () => {
  for (const code of ["bad_request", "settings_invalid"] as const) {
    it(`are none where its context is no good, whose fault it is alone (${code})`, async () => {
      const of = () => Promise.reject(new StackwrightError(code, "the context nas is no good"));
      // Nothing else is asked.
      const parts = { hosts: { of } } as unknown as PipelineParts;
      await assert.rejects(partsFor(parts, { context: "nas" }, signal), (error) => {
        assert.ok(isStackwrightError(error, "config_invalid"), String(error));
        assert.equal(error.message, "the context nas is no good. Nothing was changed");
        return true;
      });
    });
  }
});
