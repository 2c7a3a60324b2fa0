import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FairPlaces } from "../../../src/system/fair_places.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const PLACES = 8;
const KEY = "builder";
/** Repositories of one source that keep whatever they get, and other sources whose work takes long as well. */
const MOST = { hostile: 4, others: 3 };

/** Numbers that look random, and are the same in each run. */
function randomly(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % below;
  };
}

describe("FairPlaces", () => {
  it("serves a repository within a minute, whatever others of its source keep, and few together", async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomly(seed);
      const clock = createFakeClock();
      const places = new FairPlaces(clock, () => ({ places: PLACES, mostForFirst: PLACES }));
      const held = new Map<string, number>();
      const served = new Set<string>();
      const ask = async (source: string, repository: string, keepsMs: number) => {
        const whose = { source, repository };
        const free = places.take(whose, [KEY]) ?? await places.place(whose, [KEY], never);
        served.add(repository);
        held.set(source, (held.get(source) ?? 0) + 1);
        const all = held.values().reduce((sum, each) => sum + each, 0);
        // Eight, four, two and two, and four of each source for who waited long.
        const own = held.get(source) ?? 0;
        assert.ok(all <= 16 + 16 && own <= PLACES + 4, `${all}, ${own} (${seed})`);
        await clock.sleep(keepsMs, never);
        held.set(source, (held.get(source) ?? 0) - 1);
        free();
      };
      const hostile = 1 + random(MOST.hostile);
      const asked: (() => void)[] = [];
      for (let at = 0; at < 60; at++) {
        const repository = `bad${random(hostile)}`;
        asked.push(() => void ask("c", repository, 900_000));
        if (random(4) > 0) continue;
        const other = `s${random(MOST.others)}`;
        asked.push(() => void ask(other, `${other}/r${random(3)}`, 1000 * random(100)));
      }
      for (const each of asked) {
        each();
        if (random(3) === 0) await clock.advance(1000 * random(5));
      }
      for (const repository of ["good", "c", "also good"]) {
        void ask("c", repository, 1000 * random(20));
        await clock.advance(60_000);
        assert.ok(served.has(repository), `${repository} (${seed}, ${hostile} hostile)`);
      }
      // Nothing is lost: all are served once those who keep theirs have ended.
      await clock.advance(900_000 * 30);
      await settle();
      assert.deepEqual([...held.values()].filter((each) => each !== 0), []);
    }
  });

  it("keeps no timer of who has entered or given up", async () => {
    const clock = createFakeClock();
    const places = new FairPlaces(clock, () => ({ places: 1, mostForFirst: 1 }));
    const [one, other] = ["a", "b"].map((name) => ({ source: name, repository: name }));
    assert.ok(one && other);
    const free = places.take(one, [KEY]);
    const given = places.place(other, [KEY], never);
    const ended = new AbortController();
    const late = places.place(other, [KEY], ended.signal);
    assert.equal(clock.sleepers, 2);
    ended.abort(new Error("enough"));
    free?.();
    await given;
    await assert.rejects(late, /enough/);
    assert.equal(clock.sleepers, 0);
  });
});
