import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingOnce } from "../../../src/deploy/mod.ts";
import type { Engine } from "../../../src/docker/mod.ts";

const never = new AbortController().signal;

describe("findingOnce()", () => {
  it("asks once for the volumes of the same names, and anew for others", async () => {
    const asked: string[] = [];
    const findVolumes = (names: readonly string[]) => {
      asked.push(names.join());
      return Promise.resolve([]);
    };
    const engine = findingOnce({ findVolumes } as unknown as Engine);
    for (const names of [["a", "b"], ["a", "b"], ["a"]]) await engine.findVolumes(names, never);
    assert.deepEqual(asked, ["a,b", "a"]);
  });
});
