import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rendersAtOnce } from "../../../../src/deploy/compose/renders_at_once.ts";

const GIB = 1024 ** 3;

describe("rendersAtOnce()", () => {
  for (
    const { what, processors, gib, expected } of [
      { what: "a small board", processors: 4, gib: 1, expected: 2 },
      { what: "a container with little memory", processors: 8, gib: 0.25, expected: 1 },
      { what: "a virtual machine", processors: 2, gib: 4, expected: 1 },
      { what: "a machine with an odd number of processors", processors: 3, gib: 4, expected: 2 },
      { what: "a big host", processors: 16, gib: 64, expected: 8 },
    ]
  ) {
    it(`is ${expected} on ${what}`, () => {
      assert.equal(rendersAtOnce({ processors, memoryBytes: gib * GIB }), expected);
    });
  }
});
