import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIds, uuidV7 } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("uuidV7", () => {
  it("uuidV7() matches the example of RFC 9562", () => {
    // Appendix A.6: unix time 0x017F22E279B0, random 0xCC3, 0x18C4DC0C0C07398F.
    const random = "919108f7-52d1-4cc3-98c4-dc0c0c07398f";
    assert.equal(uuidV7(0x017f22e279b0, random), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  it("uuidV7() pads an early time", () => {
    const random = "919108f7-52d1-4cc3-98c4-dc0c0c07398f";
    assert.equal(uuidV7(0x1f, random), "00000000-001f-7cc3-98c4-dc0c0c07398f");
  });
});

describe("createIds", () => {
  it("next() never repeats, also while the clock stands still", () => {
    const ids = createIds(createFakeClock());
    const made = Array.from({ length: 1000 }, () => ids.next());
    assert.equal(new Set(made).size, made.length);
    for (const id of made) assert.match(id, SHAPE);
  });

  it("next() sorts by the time of the clock, to the millisecond", async () => {
    const clock = createFakeClock("2026-12-31T23:59:59.990Z");
    const ids = createIds(clock);
    const made: string[] = [];
    for (let count = 0; count < 50; count++) {
      made.push(ids.next());
      await clock.advance(1);
    }
    assert.deepEqual([...made].sort(), made);
  });

  it("next() shows the time of the clock in its first twelve digits", () => {
    const clock = createFakeClock();
    const digits = createIds(clock).next().replaceAll("-", "").slice(0, 12);
    assert.equal(Number.parseInt(digits, 16), clock.now().getTime());
  });
});
