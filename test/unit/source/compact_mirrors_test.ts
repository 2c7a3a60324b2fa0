import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compactionEnd } from "../../../src/source/compact_mirrors.ts";

const bytes = (before: number, after: number) => ({ bytes: { before, after } });
const MIB = 1024 ** 2;

describe("the end of a compaction", () => {
  it("counts results in their order, and sizes of what was measured", () => {
    assert.deepEqual(
      compactionEnd("copy", [
        { result: "skipped_single_pack", ...bytes(MIB, MIB) },
        { result: "compacted", ...bytes(90 * MIB, 70 * MIB) },
        { result: "skipped_busy" },
      ]),
      {
        status: "succeeded",
        message: "copy of 3 mirrors: 1 compacted, 1 skipped_single_pack, 1 skipped_busy; " +
          "packfiles 91.0 MiB -> 71.0 MiB",
      },
    );
  });

  it("is skipped where nothing was compacted", () => {
    assert.deepEqual(compactionEnd("repack", [{ result: "skipped_size", ...bytes(900, 900) }]), {
      status: "skipped",
      message: "repack of 1 mirror: 1 skipped_size; packfiles 900 B -> 900 B",
    });
  });

  it("has failed where one failed or was cancelled, and says why", () => {
    const end = compactionEnd("repack", [
      { result: "compacted", ...bytes(2048, 1024) },
      { result: "failed", why: "the disk is full" },
      { result: "cancelled" },
    ]);
    assert.deepEqual(end, {
      status: "failed",
      message: "2/3 mirror compactions failed: repack of 3 mirrors: 1 compacted, 1 failed, " +
        "1 cancelled; packfiles 2.0 KiB -> 1.0 KiB; the disk is full",
    });
  });
});
