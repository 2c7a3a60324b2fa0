import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { warnOfClosed } from "../../../src/app/warn_of_closed.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createRedactor, sourceAsOwner, stackAsOwner } from "../../../src/system/mod.ts";
import { createRecordingLog, writtenLines } from "../../fakes/recording_log.ts";

describe("warnOfClosed()", () => {
  it("names who has too many secrets, and says what that means and when it ends", async () => {
    const redactor = createRedactor({ group: 1_000_000, all: 200_000 });
    const log = createRecordingLog();
    warnOfClosed({ redactor, log });
    for (const owner of [stackAsOwner(stackKey("", "shop")), sourceAsOwner("h.example/o/r")]) {
      for (let at = 0; at < 200; at++) {
        redactor.add(crypto.randomUUID().replaceAll("-", "").repeat(3), owner);
      }
    }
    await Promise.resolve();
    const lines = writtenLines(log.lines, redactor);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? "", /stack default\/shop .*as \*\*\*.*other releases.*removed/);
    assert.match(lines[1] ?? "", /source h.example\/o\/r .*as \*\*\* until it is removed/);
  });
});
