import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireNotHeld, stackKey } from "../../../src/model/mod.ts";

describe("requireNotHeld()", () => {
  it("names once how the hold ends, with times to the second", () => {
    const hold = { reason: "on holiday", heldAt: new Date("2026-03-10T12:00:00.123Z") };
    const refuse = (until?: Date) => () =>
      requireNotHeld(stackKey("", "shop"), { ...hold, ...(until && { until }) }, "removed");
    const since = "shop is not removed: it is held by a person since 2026-03-10T12:00:00Z until";
    assert.throws(refuse(), {
      message: `${since} stackwright resume shop: on holiday; end that first`,
    });
    assert.throws(refuse(new Date("2026-03-12T12:00:00.456Z")), {
      message:
        `${since} 2026-03-12T12:00:00Z: on holiday; end that first (stackwright resume shop)`,
    });
  });
});
