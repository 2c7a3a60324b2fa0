import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { childrenCounter, secondsIn } from "../../../scripts/lib/children_seconds.ts";

describe("secondsIn()", () => {
  it("is the time of children that have ended, of programs and of the kernel", () => {
    const stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 2000 0 3 11 12 1250 250 20 0 1 0 5 4096 10";
    assert.equal(secondsIn(stat), 15);
  });

  it("is nothing in another text", () => {
    for (const stat of ["", "7 (a) S 1", "no brackets"]) assert.equal(secondsIn(stat), undefined);
  });
});

describe("childrenCounter()", () => {
  it("says what was added since it was last asked", () => {
    const times = [4, 5.5, 5.5, 9];
    const added = childrenCounter(() => times.shift());
    assert.deepEqual([added(), added(), added()], [1.5, 0, 3.5]);
  });

  it("says nothing where the system does not tell", () => {
    assert.equal(childrenCounter(() => undefined)(), undefined);
  });
});
