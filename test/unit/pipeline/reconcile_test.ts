import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { type PipelineParts, reconcile } from "../../../src/pipeline/mod.ts";
import { createWatchedLock, type WatchedLock } from "../../../src/system/mod.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const KEY = stackKey("", "shop");

describe("reconcile()", () => {
  it("waits for another process without the lock, so that who comes later can say so", async () => {
    let isLocked = false;
    const stackLock: WatchedLock = {
      ...createWatchedLock(),
      async run(_key, work) {
        isLocked = true;
        return await work().finally(() => void (isLocked = false));
      },
    };
    const seen: unknown[] = [];
    let other: string | undefined = "7:1";
    const clock = {
      now: () => new Date(0),
      sleep() {
        seen.push(["sleeps", isLocked]);
        other = undefined;
        return Promise.resolve();
      },
    };
    const ledger = createMemoryLedger(clock);
    const heldElsewhere = () => {
      seen.push([other, isLocked]);
      return other;
    };
    Object.assign(ledger, { heldElsewhere });
    const secrets = { learned: () => Promise.resolve() } as unknown as PipelineParts["secrets"];
    const parts: Partial<PipelineParts> = { stackLock, clock, ledger, secrets };
    const never = new AbortController().signal;
    const end = await reconcile(
      parts as PipelineParts,
      KEY,
      () => ({ heard: undefined, retryMs: 1 }),
      never,
    );
    assert.equal(end, "settled");
    assert.deepEqual(seen, [
      ["7:1", false],
      ["sleeps", false],
      [undefined, false],
      // Another process may have begun while this one stood in line.
      [undefined, true],
    ]);
  });
});
