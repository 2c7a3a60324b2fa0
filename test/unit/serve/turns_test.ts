import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Turns } from "../../../src/serve/turns.ts";

/** Counts rounds of the event loop until `work` is done, and tells it which one goes on. */
async function inRounds(work: (round: () => number) => Promise<void>): Promise<void> {
  let round = 0;
  let ended = false;
  const next = () => {
    round++;
    if (!ended) setImmediate(next);
  };
  next();
  await work(() => round);
  ended = true;
}

/** The rounds in which the turns of so many came, which all asked at once. */
async function roundsOf(turns: Turns, count: number, take = () => {}): Promise<number[]> {
  const rounds: number[] = [];
  await inRounds(async (round) => {
    await Promise.all(Array.from({ length: count }, async () => {
      await turns.take();
      take();
      rounds.push(round());
    }));
  });
  return rounds;
}

describe("Turns", () => {
  it("does not keep one waiting that comes alone", async () => {
    const turns = new Turns({ most: 1, rests: true });
    assert.equal(turns.take(), undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(turns.take(), undefined);
  });

  it("lets few of many begin before others have their turn", async () => {
    for (const most of [1, 8]) {
      const rounds = await roundsOf(new Turns({ most, rests: false }), 400);
      assert.equal(rounds.length, 400);
      const together = [...Map.groupBy(rounds, (each) => each).values()].map((each) => each.length);
      // Whoever counts the rounds is one of those that have their turn: before or after.
      assert.ok(Math.max(...together) <= 2 * most, `${Math.max(...together)} of ${most}`);
    }
  });

  it("rests after a turn that took long, and comes to all of them", async () => {
    const busy = () => {
      const until = performance.now() + 4;
      while (performance.now() < until);
    };
    const rounds = await roundsOf(new Turns({ most: 8, rests: true }), 20, busy);
    assert.equal(rounds.length, 20);
    assert.ok(new Set(rounds).size > 10);
  });

  it("keeps nobody waiting for those who are gone before their turn", async () => {
    const turns = new Turns({ most: 1, rests: false });
    const began: string[] = [];
    await inRounds(async (round) => {
      await turns.take();
      const gone = Array.from({ length: 500 }, () => turns.take(() => true));
      const from = round();
      await turns.take();
      began.push("one");
      assert.ok(round() - from < 10, `after ${round() - from} rounds`);
      // They are told, too: each holds on to something.
      await Promise.all(gone);
    });
    assert.deepEqual(began, ["one"]);
  });

  it("goes on with short turns however long rounds are, which others make so", async () => {
    const turns = new Turns({ most: 8, rests: false });
    const busy = () => {
      const until = performance.now() + 4;
      while (performance.now() < until);
    };
    let isOver = false;
    const flood = () => {
      busy();
      if (!isOver) setImmediate(flood);
    };
    flood();
    const rounds = await roundsOf(turns, 80);
    isOver = true;
    assert.ok(new Set(rounds).size <= 20, `${new Set(rounds).size} rounds`);
  });
});
