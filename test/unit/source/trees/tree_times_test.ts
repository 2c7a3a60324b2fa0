import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TreeTimes } from "../../../../src/source/trees/tree_times.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const MINUTE = 60_000;

function start() {
  const clock = createFakeClock();
  const times = new TreeTimes(clock);
  const ends: string[] = [];
  const sleep = (key: string, minutes: number) =>
    times.within(key, (signal) => clock.sleep(minutes * MINUTE, signal), never).then(
      () => void ends.push(`${key} done`),
      ({ code, message }) => void ends.push(`${key} ${code} ${message}`),
    );
  return { clock, ends, sleep };
}

describe("TreeTimes", () => {
  it("end what a commit waits for, one thing after the other, and others go on", async () => {
    const { clock, ends, sleep } = start();
    sleep("a", 9);
    await clock.advance(9 * MINUTE);
    sleep("a", 9);
    sleep("b", 9);
    await clock.advance(6 * MINUTE);
    await settle();
    assert.equal(ends.length, 2);
    assert.match(ends[1] ?? "", /^a source_invalid the files of the commit, .* than 15 minutes/);
    await clock.advance(3 * MINUTE);
    await settle();
    assert.equal(ends[2], "b done");
    assert.equal(clock.sleepers, 0);
  });

  it("refuse the commit at once for some minutes, then begin anew", async () => {
    const { clock, ends, sleep } = start();
    sleep("a", 20);
    await clock.advance(15 * MINUTE);
    for (let looks = 0; looks < 4; looks++) {
      await clock.advance(MINUTE);
      await sleep("a", 20);
      assert.equal(clock.sleepers, 0);
    }
    await clock.advance(MINUTE);
    sleep("a", 14);
    await clock.advance(14 * MINUTE);
    await settle();
    assert.deepEqual(ends.map((end) => end.split(" ")[1]), [
      ...Array.from({ length: 5 }, () => "source_invalid"),
      "done",
    ]);
  });

  it("count once what several stacks of a commit wait for together", async () => {
    const { clock, ends, sleep } = start();
    for (let stacks = 0; stacks < 8; stacks++) sleep("a", 14);
    await clock.advance(14 * MINUTE);
    await settle();
    assert.deepEqual(ends, Array.from({ length: 8 }, () => "a done"));
  });

  it("end with the caller's signal as usual", async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const times = new TreeTimes(clock);
    const work = times.within("a", (signal) => clock.sleep(MINUTE, signal), stop.signal);
    stop.abort(new Error("stopped"));
    await assert.rejects(work, { message: "stopped" });
    assert.equal(clock.sleepers, 0);
  });
});
