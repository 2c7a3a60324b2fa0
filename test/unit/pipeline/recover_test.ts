import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatStackKey } from "../../../src/model/mod.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { recover } from "../../../src/pipeline/recover.ts";
import { createKeyedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger, SHOP } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf } from "../record/releases.ts";

describe("recover()", () => {
  it("leaves what this process is doing now to it, and waits for nothing", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    const stackLock = createKeyedLock();
    const host = { info: () => Promise.resolve({ swarm: "none" }) };
    const made = { clock, ledger, log: createRecordingLog(), host, stackLock };
    const parts = made as unknown as PipelineParts;
    const done = Promise.withResolvers<void>();
    const never = new AbortController().signal;
    // A deployment under way.
    const working = stackLock.run(formatStackKey(SHOP), () => done.promise, never);
    ledger.beginDeploy(releaseOf(SHOP, "a1"));
    await recover(parts, [], never);
    assert.equal(ledger.isCutOff(SHOP), false);
    done.resolve();
    await working;
  });
});
