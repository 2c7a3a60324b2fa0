import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLanes, type LaneSlot } from "../../../src/intake/lanes.ts";
import { settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

/** Notes when a slot has its turn. */
async function watch(slot: LaneSlot, signal = never): Promise<{ came: boolean }> {
  const turn = { came: false };
  slot.turn(signal).then(() => turn.came = true);
  await settle();
  return turn;
}

describe("createLanes()", () => {
  it("lets the first item of a lane run and the second wait until it left", async () => {
    const lanes = createLanes<string>();
    const first = lanes.enter("a", "1");
    assert.equal(lanes.waiting("a"), undefined);
    const second = lanes.enter("a", "2");
    assert.equal(lanes.waiting("a"), "2");
    const turns = [await watch(first), await watch(second)];
    assert.deepEqual(turns.map(({ came }) => came), [true, false]);
    first.leave();
    first.leave();
    assert.equal(lanes.waiting("a"), undefined, "what runs can no longer be joined");
    await settle();
    assert.equal(turns[1]?.came, true);
  });

  it("throws for a third item, which its caller should have joined", () => {
    const lanes = createLanes<string>();
    lanes.enter("a", "1");
    lanes.enter("a", "2");
    assert.throws(() => lanes.enter("a", "3"), /BUG/);
    lanes.enter("b", "1");
  });

  it("forgets what waits when it gives up, and ends its turn when it is aborted", async () => {
    const lanes = createLanes<string>();
    const first = lanes.enter("a", "1");
    const second = lanes.enter("a", "2");
    const end = new AbortController();
    const turn = await watch(second, end.signal);
    end.abort();
    await settle();
    assert.equal(turn.came, true);
    second.leave();
    assert.equal(lanes.waiting("a"), undefined);
    const third = lanes.enter("a", "3");
    first.leave();
    assert.equal((await watch(third)).came, true);
    third.leave();
    assert.equal((await watch(lanes.enter("a", "4"))).came, true);
  });

  it("lets others join an item that lingers until it begins", () => {
    const lanes = createLanes<string>();
    const slot = lanes.enter("a", "first", true);
    assert.equal(lanes.waiting("a"), "first");
    slot.begin();
    assert.equal(lanes.waiting("a"), undefined);
    lanes.enter("a", "second", true);
    assert.equal(lanes.waiting("a"), "second");
  });
});
