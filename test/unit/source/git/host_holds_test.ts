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

/** A repository of a host. */
const at = (host: string, path = "shop") => ({ host, repository: `${host}/${path}` });

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
      holds.note(at("a.example"), given);
      assert.equal(seconds(holds.until(at("a.example"))), expected);
      assert.equal(holds.until(at("b.example")), undefined);
    });
  }

  it("are left alone longer each time where they do not say how long, until they answer", () => {
    const { holds, seconds } = createWorld();
    const times = Array.from({ length: 6 }, () => seconds(holds.note(at("a"), answer(429))));
    assert.deepEqual(times, [60, 120, 240, 480, 900, 900]);
    holds.note(at("a"), answer(404));
    assert.equal(seconds(holds.until(at("a"))), 900, "an error is no sign of being well");
    holds.note(at("a"), answer(200));
    assert.equal(holds.until(at("a")), undefined);
    assert.equal(seconds(holds.note(at("a"), answer(429))), 60);
  });

  it("are left alone by other repositories for a few minutes at most", async () => {
    for (const said of ["3600", undefined]) {
      const { holds, seconds, clock } = createWorld();
      for (let times = 0; times < 5; times++) holds.note(at("a", "evil"), answer(429, said));
      assert.equal(seconds(holds.until(at("a", "evil"))), said === undefined ? 900 : 3600);
      assert.equal(seconds(holds.until(at("a"))), said === undefined ? 60 : 300);
      assert.equal(holds.until(at("b")), undefined);
      await clock.advance(5 * MINUTE);
      assert.equal(holds.until(at("a")), undefined);
      assert.equal(seconds(holds.until(at("a", "evil"))), said === undefined ? 600 : 3300);
    }
  });

  it("are held once by a repository that is refused, however often it is asked", async () => {
    for (const said of ["300", "7", undefined]) {
      const { holds, clock } = createWorld();
      let held = 0;
      for (let second = 0; second < 3600; second += 10) {
        const asked = at("a", "evil");
        holds.note(asked, answer(429, said));
        if (holds.until(at("a")) !== undefined) held += 10;
        assert.notEqual(holds.ownUntil(asked), undefined);
        await clock.advance(10_000);
      }
      assert.ok(held > 0 && held <= 300, `${held} seconds`);
    }
  });

  it("are held half of the time at most, by repositories that are refused and answer in turn", async () => {
    for (const names of [1, 2, 1000]) {
      const { holds, clock } = createWorld();
      let [held, longest] = [0, 0];
      for (let times = 0; times < 720; times++) {
        holds.note(at("a", `evil-${times % names}`), answer(200));
        holds.note(at("a", `evil-${(times + 1) % names}`), answer(429, "3000"));
        held = holds.until(at("a")) === undefined ? 0 : held + 10;
        longest = Math.max(longest, held);
        await clock.advance(10_000);
      }
      assert.ok(longest > 0 && longest <= 300, `${names}: ${longest} seconds`);
    }
  });

  it("are held no longer by a repository that alone is refused, again and again", async () => {
    const { holds, seconds, clock } = createWorld();
    const refused = answer(429, "200");
    holds.note(at("a", "evil"), refused);
    assert.equal(seconds(holds.until(at("a"))), 200);
    for (let times = 0; times < 3; times++) {
      holds.note(at("a"), answer(200));
      assert.equal(seconds(holds.note(at("a", "evil"), refused)), 200);
      assert.equal(holds.until(at("a")), undefined);
      assert.equal(seconds(holds.until(at("a", "evil"))), 200);
    }
    // The next one that is refused shows that it is the host, when others had their turn.
    await clock.advance(5 * MINUTE);
    holds.note(at("a"), refused);
    assert.equal(seconds(holds.until(at("a", "other"))), 200);
    holds.note(at("a", "evil"), answer(200));
    assert.equal(holds.until(at("a", "evil")), undefined);
    assert.equal(seconds(holds.until(at("a"))), 200);
    assert.equal(holds.ownUntil(at("a", "other")), undefined);
  });

  it("are asked again when the time is over, also on a clock that was set back", async () => {
    const { holds, clock } = createWorld();
    holds.note(at("a"), answer(429, "120"));
    await clock.advance(2 * MINUTE - 1);
    assert.notEqual(holds.until(at("a")), undefined);
    await clock.advance(1);
    assert.equal(holds.until(at("a")), undefined);
    const ahead = createFakeClock("2026-03-11T11:00:00Z");
    let now = ahead.now;
    const other = new HostHolds({ ...ahead, now: () => now() });
    other.note(at("a"), answer(429, "120"));
    now = clock.now;
    assert.equal(other.until(at("a")), undefined);
  });

  it("are forgotten where there are too many, the one that answered longest ago first", () => {
    const { holds } = createWorld();
    for (let each = 0; each < 1000; each++) holds.note(at(`host-${each}`), answer(429));
    holds.note(at("host-0"), answer(429));
    holds.note(at("host-1000"), answer(429));
    const isHeld = (each: number) => holds.ownUntil(at(`host-${each}`)) !== undefined;
    assert.deepEqual([0, 1, 2, 999, 1000].map(isHeld), [true, false, true, true, true]);
    const isShared = (each: number) => holds.until(at(`host-${each}`, "other")) !== undefined;
    assert.deepEqual([0, 1, 2, 999, 1000].map(isShared), [false, true, true, true, true]);
  });
});
