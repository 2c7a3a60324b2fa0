import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { readInput } from "../../../src/api/operation.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

describe("readInput()", () => {
  const schema = z.strictObject({ from: z.number(), of: z.object({ name: z.string() }) });

  it("says of what is not there that it is missing, and of the rest what was expected", () => {
    assert.throws(() => readInput(schema, { from: "one", of: {} }), (error) => {
      assert.ok(isStackwrightError(error, "bad_request"));
      assert.deepEqual(error.problems.map(({ path, message }) => [path, message]), [
        ["from", "Invalid input: expected number, received string"],
        ["of.name", "it is missing"],
      ]);
      return true;
    });
  });
});
