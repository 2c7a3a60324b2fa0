import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import type { PipelineParts } from "../../../src/pipeline/mod.ts";
import { whyLeftAlone } from "../../../src/pipeline/owner/own_stack.ts";
import { whileIntended } from "../../../src/pipeline/waits.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const { signal } = new AbortController();
const SELF = stackKey("", "sw");

/** Parts of a process in a container of the project `sw`. */
function createParts() {
  const [clock, log] = [createFakeClock(), createRecordingLog()];
  const container = { id: "us", name: "ours", labels: { "com.docker.compose.project": "sw" } };
  const host = { own: () => Promise.resolve({ container }) };
  const [ledger, stackLock] = [createMemoryLedger(clock), createWatchedLock()];
  const made = { clock, log, ledger, stackLock, host, mentioned: new Set() };
  return { parts: made as unknown as PipelineParts, log, ledger };
}

describe("the stack that this process runs in", () => {
  it("is left by what was cut off, which is closed and not tried again", async () => {
    const { parts, ledger } = createParts();
    const intent = ledger.beginDestroy(SELF, {}, undefined);
    const work = () => assert.fail("it was begun");
    await assert.rejects(whileIntended(parts, intent, work, signal), {
      code: "conflict",
      message: /^sw is the project that Stackwright itself runs in/,
    });
    assert.deepEqual(ledger.underWay(), []);
  });

  it("is left alone with one warning, and no other is", async () => {
    const { parts, log } = createParts();
    const left = () => whyLeftAlone(parts, SELF, "is not repaired", signal);
    assert.match(
      await left() ?? "",
      /Stackwright itself runs in it \(container ours\)/,
    );
    assert.match(await left() ?? "", /Stackwright itself/);
    assert.deepEqual(log.lines.map(({ level }) => level), ["warning"]);
    assert.equal(await whyLeftAlone(parts, stackKey("", "shop"), "is", signal), undefined);
  });
});
