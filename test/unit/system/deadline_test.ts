import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withDeadline } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

/** Work of at most ten seconds that sleeps for so many milliseconds, apart or not. */
function begin(sleeps: readonly (readonly ["apart" | "work", number])[]) {
  const clock = createFakeClock();
  const limit = { clock, milliseconds: 10_000, late: () => new Error("late") };
  const done = withDeadline(limit, async (signal, apart) => {
    for (const [kind, milliseconds] of sleeps) {
      const sleep = () => clock.sleep(milliseconds, signal);
      await (kind === "apart" ? apart(sleep) : sleep());
    }
    return "done";
  }, never).catch((error: Error) => error.message);
  let result: string | undefined;
  done.then((value) => result = value);
  return { clock, result: () => result };
}

describe("withDeadline()", () => {
  it("does not count waits that are apart", async () => {
    const { clock, result } = begin([["work", 5000], ["apart", 100_000], ["work", 4900]]);
    await clock.advance(109_900);
    await settle();
    assert.equal(result(), "done");
    assert.equal(clock.sleepers, 0);
  });

  it("ends work that takes longer besides them", async () => {
    const { clock, result } = begin([["work", 5000], ["apart", 4000], ["work", 6000]]);
    await clock.advance(13_999);
    assert.equal(result(), undefined);
    await clock.advance(1);
    assert.equal(result(), "late");
  });

  it("asks at the end for how much more there is", async () => {
    const clock = createFakeClock();
    const more = [3000, 500, 0];
    const later = () => more.shift() ?? assert.fail("it is over");
    const limit = { clock, milliseconds: 10_000, late: () => new Error("late"), later };
    const work = (signal: AbortSignal) => clock.sleep(60_000, signal);
    const done = assert.rejects(withDeadline(limit, work, never), /late/);
    await clock.advance(13_499);
    assert.deepEqual(more, [0]);
    await clock.advance(1);
    await done;
    assert.equal(clock.sleepers, 0);
  });

  it("is not put off by a clock that is set on during a wait", async () => {
    const { clock, result } = begin([["apart", 5000], ["work", 60_000]]);
    await clock.advance(1000);
    clock.set(3_600_000);
    await clock.advance(19_000);
    assert.equal(result(), "late");
  });
});
