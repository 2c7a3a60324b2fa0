import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTurns, systemClock } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

/** Turns on a clock that a piece of work moves on. */
function createWork() {
  const clock = createFakeClock();
  let late = 0;
  const turns = createTurns({
    now: () => new Date(clock.now().getTime() + late),
    sleep: clock.sleep,
  });
  const done: string[] = [];
  const take = (who: string, name: string, milliseconds: number) =>
    turns.by(who).take(() => {
      late += milliseconds;
      done.push(name);
      return name;
    }, never);
  return { clock, turns, done, take };
}

describe("createTurns()", () => {
  it("gives everything else as much time as a piece took before the next one", async () => {
    const { clock, done, take } = createWork();
    const first = take("a", "one", 300);
    const second = take("a", "two", 5000);
    const third = take("a", "three", 1);
    assert.equal(await first, "one");
    await clock.advance(299);
    assert.deepEqual(done, ["one"]);
    await clock.advance(1);
    assert.equal(await second, "two");
    await clock.advance(999);
    assert.deepEqual(done, ["one", "two"]);
    await clock.advance(1);
    assert.equal(await third, "three");
    assert.equal(clock.sleepers, 0);
  });

  it("lets short pieces go on at once, until they took long together", async () => {
    const { clock, done, take } = createWork();
    const all = Array.from({ length: 5 }, (_, at) => take("a", `${at}`, 4));
    await settle();
    assert.equal(done.length, 3);
    await clock.advance(12);
    await Promise.all(all);
  });

  it("lets sources take turns", async () => {
    const { clock, done, take } = createWork();
    const all = ["a1", "a2", "a3", "b1"].map((name) => take(name.charAt(0), name, 100));
    await clock.advance(300);
    await Promise.all(all);
    assert.deepEqual(done, ["a1", "a2", "b1", "a3"]);
  });

  it("rejects with what a piece throws, and for who does not want to wait", async () => {
    const { clock, turns, take } = createWork();
    const thrown = turns.take(() => {
      throw new Error("no");
    }, never);
    await assert.rejects(thrown, /no/);
    const stop = new AbortController();
    await take("a", "one", 50);
    const waiting = turns.take(() => 1, stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    await clock.advance(50);
    assert.equal(await turns.take(() => 2, never), 2);
  });

  it("lets the event loop turn among chains of promises that never wait", async () => {
    const turns = createTurns(systemClock);
    let ticks = 0;
    const timer = setInterval(() => void ticks++, 1);
    const piece = () => {
      for (const end = Date.now() + 10; Date.now() < end;);
    };
    const chain = async (who: string) => {
      for (let at = 0; at < 5; at++) await turns.by(who).take(piece, never);
    };
    await Promise.all(["a", "b", "c"].map(chain));
    clearInterval(timer);
    assert.ok(ticks >= 14, `${ticks}`);
  });
});
