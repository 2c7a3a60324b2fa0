import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { machineLine, machineSecondsIn } from "../../../scripts/lib/machine_seconds.ts";

const BEFORE = "cpu  1000 200 300 4000 500 10 90 700 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
const AFTER = "cpu  2000 400 600 8000 900 20 180 900 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";

describe("machineSecondsIn()", () => {
  it("adds what all processors were spent on", () => {
    assert.deepEqual(machineSecondsIn(BEFORE), { busy: 16, disk: 5, stolen: 7, all: 68 });
  });

  it("is nothing in another text", () => {
    for (const text of ["", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3"]) {
      assert.equal(machineSecondsIn(text), undefined);
    }
  });
});

describe("machineLine()", () => {
  it("says what was added", () => {
    assert.equal(
      machineLine(machineSecondsIn(BEFORE), machineSecondsIn(AFTER)),
      "the machine: 16 s of 62 s of its processors busy, whoever had them; " +
        "4 s idle while a disk was waited for, 2 s taken by its host",
    );
  });

  it("says nothing where the system does not tell", () => {
    assert.equal(machineLine(undefined, machineSecondsIn(AFTER)), undefined);
    assert.equal(machineLine(machineSecondsIn(BEFORE), undefined), undefined);
  });
});
