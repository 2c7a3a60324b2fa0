import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { detailed } from "../../../src/docker/container_details.ts";

describe("detailed()", () => {
  const grace = (StopTimeout: number | null) =>
    detailed({ Config: { StopTimeout } }).stopTimeoutSeconds;

  it("takes a grace period of at most a quarter of an hour from an engine", () => {
    assert.deepEqual([null, 0, 60, 900, 1e300].map(grace), [10, 0, 60, 900, 900]);
  });
});
