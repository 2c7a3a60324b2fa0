import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AuthorTurns } from "../../../src/app/author_turns.ts";

/** Turns in which each step takes 10 ms; `steps` says how many each piece takes. */
function createTurns(steps: Record<string, number>) {
  const turns = new AuthorTurns<string>();
  const left = { ...steps };
  const step = () => {
    const turn = turns.next();
    if (turn === undefined) return undefined;
    turns.use(turn, 10);
    left[turn.name] = (left[turn.name] ?? 0) - 1;
    if (left[turn.name] === 0) turns.end(turn);
    return turn.name;
  };
  return {
    step,
    add: (author: string, name: string, size = 1) => turns.add(author, { name, size, work: name }),
    rest: () => Array.from({ length: 100 }, step).filter((each) => each !== undefined),
  };
}

describe("AuthorTurns", () => {
  it("delays an author by as much as that one has itself, and a step", () => {
    const { add, step, rest } = createTurns({ a1: 8, a2: 8, b: 3 });
    add("a", "a1");
    add("a", "a2");
    for (let done = 0; done < 4; done++) step();
    add("b", "b");
    assert.ok(rest().lastIndexOf("b") <= 6);
  });

  it("has the smallest piece of an author first, and ends what was begun", () => {
    const { add, step, rest } = createTurns({ large: 3, small: 2, tiny: 1 });
    add("a", "large", 9);
    add("a", "small", 5);
    assert.equal(step(), "small");
    add("a", "tiny", 1);
    add("a", "small", 0);
    assert.deepEqual(rest(), ["small", "tiny", "large", "large", "large"]);
    assert.deepEqual(rest(), []);
  });
});
