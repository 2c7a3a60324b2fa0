import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HostHolds } from "../../../../src/source/git/host_holds.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";

const START = "2026-03-10T11:00:00.000Z";
const MINUTE = 60_000;

function answer(status: number, retryAfter?: string) {
  const header = (name: string) => name === "retry-after" ? retryAfter : undefined;
  return { status, body: "", header };
}

function createWorld() {
  const clock = createFakeClock(START);
  const holds = new HostHolds(clock);
  const seconds = (until: Date | undefined) =>
    until === undefined ? undefined : (until.getTime() - clock.now().getTime()) / 1000;
  return { clock, holds, seconds };
}

describe("hosts that want to be left alone", () => {
  for (
    const [what, given, expected] of [
      ["429 with seconds", answer(429, "17"), 17],
      ["503 with seconds", answer(503, " 5 "), 5],
      ["429 with a date", answer(429, "Tue, 10 Mar 2026 11:02:00 GMT"), 120],
      ["429 with a date that is over", answer(429, "Tue, 10 Mar 2026 10:00:00 GMT"), undefined],
      ["429 with more than an hour", answer(429, "999999"), 3600],
      ["429 with a text of no meaning", answer(429, "-1"), 60],
      ["429 alone", answer(429), 60],
      ["503 alone", answer(503), undefined],
      ["500 with seconds", answer(500, "17"), undefined],
      ["200 with seconds", answer(200, "17"), undefined],
    ] as const
  ) {
    it(`are told by their answer: ${what}`, () => {
      const { holds, seconds } = createWorld();
      holds.note("a.example", given);
      assert.equal(seconds(holds.until("a.example")), expected);
      assert.equal(holds.until("b.example"), undefined);
    });
  }

  it("are left alone longer each time where they do not say how long, until they answer", () => {
    const { holds, seconds } = createWorld();
    const times = Array.from({ length: 6 }, () => seconds(holds.note("a", answer(429))));
    assert.deepEqual(times, [60, 120, 240, 480, 900, 900]);
    holds.note("a", answer(404));
    assert.equal(seconds(holds.until("a")), 900, "an error is no sign of being well");
    holds.note("a", answer(200));
    assert.equal(holds.until("a"), undefined);
    assert.equal(seconds(holds.note("a", answer(429))), 60);
  });

  it("are asked again when the time is over, also on a clock that was set back", async () => {
    const { holds, clock } = createWorld();
    holds.note("a", answer(429, "120"));
    await clock.advance(2 * MINUTE - 1);
    assert.notEqual(holds.until("a"), undefined);
    await clock.advance(1);
    assert.equal(holds.until("a"), undefined);
    const ahead = createFakeClock("2026-03-11T11:00:00Z");
    let now = ahead.now;
    const other = new HostHolds({ ...ahead, now: () => now() });
    other.note("a", answer(429, "120"));
    now = clock.now;
    assert.equal(other.until("a"), undefined);
  });

  it("are forgotten where there are too many, the one that answered longest ago first", () => {
    const { holds } = createWorld();
    for (let each = 0; each < 1000; each++) holds.note(`host-${each}`, answer(429));
    holds.note("host-0", answer(429));
    holds.note("host-1000", answer(429));
    const isHeld = (each: number) => holds.until(`host-${each}`) !== undefined;
    assert.deepEqual([0, 1, 2, 999, 1000].map(isHeld), [true, false, true, true, true]);
  });
});
