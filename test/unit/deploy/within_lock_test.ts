import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onceLocked } from "../../../src/deploy/within_lock.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createKeyedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const bounded = { key: stackKey("", "shop"), what: "project", timeoutSeconds: 5 };

describe("onceLocked()", () => {
  it("bounds what the work still waits for, and says whom it waited for", async () => {
    const clock = createFakeClock();
    const parts = { clock, stackLock: createKeyedLock() };
    const work = (waiting: AbortSignal) => clock.sleep(3_600_000, waiting);
    const end = assert.rejects(onceLocked(parts, bounded, work, never), {
      code: "timeout",
      message:
        "project shop: nothing was done: a deployment of it, a scheduled job or another action was " +
        "under way for all of the 5 s; ask again later, or with a larger timeout",
    });
    await clock.advance(5000);
    await end;
  });

  it("lets work go on to its end that has begun and waits for nothing", async () => {
    const clock = createFakeClock();
    const parts = { clock, stackLock: createKeyedLock() };
    const end = onceLocked(parts, bounded, () => clock.sleep(60_000, never).then(() => 1), never);
    await clock.advance(60_000);
    assert.equal(await end, 1);
  });
});
