import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { notingLong } from "../../../../src/deploy/compose/compose_failure.ts";
import { errors, StackwrightError } from "../../../../src/model/mod.ts";

describe("notingLong()", () => {
  /** What becomes of an error after milliseconds of work. */
  async function failed(error: Error, milliseconds: number): Promise<unknown> {
    let time = 0;
    const render = () => {
      time += milliseconds;
      return Promise.reject(error);
    };
    return await notingLong(render, () => time).catch((found: unknown) => found);
  }

  it("says of a failure that came late that it took too much, and of no other", async () => {
    const error = errors.render_failed("no such network");
    assert.equal(await failed(error, 3000), error);
    const late = await failed(error, 3001);
    assert.ok(late instanceof StackwrightError && late.tookTooMuch);
    assert.deepEqual([late.code, late.message], ["render_failed", "no such network"]);
    const other = new Error("stopped");
    assert.equal(await failed(other, 10_000), other);
  });

  it("is the result of what works, however long it takes", async () => {
    assert.equal(await notingLong(() => Promise.resolve(1)), 1);
  });
});
