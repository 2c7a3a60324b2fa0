import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shrink, simplify } from "../../flow/shrink.ts";
import {
  expectedOf,
  firstState,
  simplerWalks,
  step,
  type WalkState,
} from "../../flow/walk_model.ts";
import { fractionsFrom } from "../../fakes/random.ts";

const numbers = (count: number) => Array.from({ length: count }, (_each, index) => index);
const all = (...needed: readonly number[]) => (items: readonly number[]) =>
  Promise.resolve(needed.every((each) => items.includes(each)));

describe("shrink", () => {
  for (
    const [what, needed] of [
      ["the last one", [299]],
      ["the first one", [0]],
      ["one in the middle", [150]],
      ["two far apart", [3, 288]],
      ["five", [1, 60, 61, 200, 299]],
    ] as const
  ) {
    it(`shrink() leaves nothing but ${what} of 300, when that is what fails`, async () => {
      assert.deepEqual(await shrink(numbers(300), all(...needed)), needed);
    });
  }

  it("shrink() leaves items in their order, and everything when all of it is needed", async () => {
    assert.deepEqual(await shrink(numbers(7), all(...numbers(7))), numbers(7));
  });

  it("shrink() asks a few dozen times for one item among 300", async () => {
    let asked = 0;
    await shrink(numbers(300), (items) => {
      asked++;
      return all(150)(items);
    });
    assert.ok(asked < 60, `${asked} walks`);
  });
});

describe("a walk that fails", () => {
  /** As long as the walks of the flow test, and failing as a wrong product would make it fail. */
  const walkOf = (seed: number) => {
    const random = fractionsFrom(seed);
    const states = [firstState()];
    for (let count = 0; count < 300; count++) {
      states.push(step(states.at(-1) ?? states[0]!, random));
    }
    return states;
  };
  /** A product that does not notice that a follower's followed service changed. */
  const missesFollowers = (states: readonly WalkState[]) =>
    states.some((state, at) => {
      const before = states[at - 1];
      if (before === undefined) return false;
      const [now, then] = [expectedOf(state), expectedOf(before)];
      return Object.keys(now).some((name) =>
        now[name]?.follows !== undefined && then[name]?.follows === now[name]?.follows &&
        then[name]?.identity !== now[name]?.identity &&
        JSON.stringify(state.services[name]) === JSON.stringify(before.services[name])
      );
    });
  const fails = (states: readonly WalkState[]) => Promise.resolve(missesFollowers(states));

  // Which walks come to a follower depends on what else a step can do, so they are looked for.
  const walks = numbers(40).map(walkOf).filter(missesFollowers).slice(0, 4);

  for (const index of numbers(4)) {
    it(`shrinks to two states with two services in them (walk ${index + 1})`, async () => {
      const states = walks[index];
      assert.ok(states !== undefined, "hardly a walk has a follower");
      const shortest = await shrink(states, fails);
      const simplest = await simplify(shortest, simplerWalks, fails);
      assert.equal(simplest.length, 2, JSON.stringify(simplest));
      for (const { services, noise } of simplest) {
        assert.equal(noise, 0);
        assert.equal(Object.keys(services).length, 2, JSON.stringify(services));
      }
    });
  }
});
