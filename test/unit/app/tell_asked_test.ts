import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tellAsked } from "../../../src/app/tell_asked.ts";
import type { Assembly } from "../../../src/app/assemble.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const KEY = stackKey("", "shop");
const [MINE, THEIRS] = [{ source: "host/a", reference: "" }, { source: "host/b", reference: "" }];

describe("tellAsked()", () => {
  it("ends what a person asked for when the stack is handed over, and not what is asked for then", async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    ledger.owners.settle(KEY, MINE);
    const stackLock = createWatchedLock({ clock, version: () => ledger.owners.mark(KEY) });
    const parts = { ledger, listeners: [], learned: () => Promise.resolve(), stackLock };
    const { signal } = new AbortController();
    const go = Promise.withResolvers<void>();
    const restart = () => {
      const work = (within: AbortSignal) => {
        const end = Promise.withResolvers<void>();
        within.addEventListener("abort", () => end.reject(within.reason));
        return Promise.race([go.promise, end.promise]);
      };
      const asked = { action: "restart", work } as const;
      return tellAsked(parts as unknown as Assembly, KEY, asked, signal)
        .catch((error: Error) => error.message);
    };
    const before = restart();
    await settle();
    ledger.handOver(KEY, THEIRS);
    const after = restart();
    await clock.advance(1000);
    assert.match(String(await before), /^shop was handed over to host\/b/);
    await clock.advance(5000);
    go.resolve();
    assert.equal(await after, undefined);
  });
});
