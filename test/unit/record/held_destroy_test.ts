import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const KEY = stackKey("", "shop");

describe("beginDestroy()", () => {
  it("is refused while a person holds the stack", () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger(clock);
    ledger.holds.set(KEY, { reason: "data", heldAt: clock.now() });
    assert.throws(() => ledger.beginDestroy(KEY, {}), {
      code: "conflict",
      message: /^shop is not removed: it is held by a person/,
    });
    assert.deepEqual(ledger.underWay(), []);
    ledger.holds.remove(KEY);
    ledger.beginDestroy(KEY, {});
  });
});
