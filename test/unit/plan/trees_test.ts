import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { heldTrees, obsoleteTrees, type TreeFacts, type TreeSpan } from "../../../src/plan/mod.ts";

/** A time, in seconds after some moment. */
const at = (seconds: number) => new Date(1_000_000_000_000 + seconds * 1000);
const tree = (name: string) => `/data/sources/host/shop/trees/${name}`;

/** Four trees, used one hundred seconds after each other from 100 on; looked at much later. */
function facts(more: Partial<TreeFacts> = {}): TreeFacts {
  const stored = ["a", "b", "c", "d"].map((name, index) => ({
    path: tree(name),
    usedAt: at(100 + index * 100),
  }));
  const mirrored = new Set((more.stored ?? stored).map(({ path }) => dirname(path)));
  return {
    stored,
    needed: new Set(),
    held: heldTrees([]),
    usedBefore: at(10_000),
    mirrored,
    ...more,
  };
}

/** `a`, `b`, `c`, `d` in place, each from its hundred to the next. */
const spans: readonly TreeSpan[] = ["a", "b", "c", "d"].map((name, index) => ({
  path: tree(name),
  beganAt: at(100 + index * 100),
  doneAt: at(101 + index * 100),
}));

/** As {@link spans}, but for a clock that was an hour ahead when `b` came, and was right again before `c`. */
const setBack = spans.with(1, { path: tree("b"), beganAt: at(3800), doneAt: at(3801) });

/** What containers hold that were started at these times and may be of any of `stacks`. */
const held = (started: readonly (Date | undefined)[], stacks = [spans]) => ({
  held: heldTrees(started.map((startedAt) => ({ stacks, startedAt }))),
});

function names(trees: readonly string[]): string {
  return trees.map((each) => each.slice(-1)).join("");
}

describe("obsoleteTrees()", () => {
  const cases: [string, Partial<TreeFacts>, string][] = [
    ["removes all but the newest when nothing needs them", {}, "abc"],
    ["removes the newest, too, where the mirror is gone", { mirrored: new Set() }, "abcd"],
    ["keeps what is needed", { needed: new Set([tree("b")]) }, "ac"],
    ["keeps what was used lately", { usedBefore: at(200) }, "a"],
    ["keeps the tree a container was started with", held([at(150)]), "bc"],
    ["keeps one tree for each of several containers", held([at(150), at(350)]), "b"],
    ["keeps both trees when a container started while they changed places", held([at(200.5)]), "c"],
    ["allows for clocks that differ by some seconds", held([at(297)]), "a"],
    ["takes the last tree for what started after all", held([at(99_999)]), "abc"],
    [
      "keeps what a container has that started before the clock was set back",
      held([at(5000)], [setBack]),
      "ac",
    ],
    [
      "keeps what a container has that started since, at the time of another tree",
      held([at(150)], [setBack]),
      "c",
    ],
    [
      "removes nothing of a source when a container of its stack started before all that is known",
      held([at(50)]),
      "",
    ],
    [
      "removes nothing of a source when it is not known when a container of its stack started",
      held([at(150), undefined]),
      "",
    ],
    [
      "keeps what is known of one of the stacks that a container may be of",
      held([at(150)], [
        spans,
        [{ path: tree("d"), beganAt: at(400) }],
      ]),
      "bc",
    ],
    [
      "is not kept by a container of a stack of which nothing is known",
      held([at(150)], [[]]),
      "abc",
    ],
    ["is not kept by a stack without containers", held([]), "abc"],
    ["removes nothing where there is nothing", { stored: [] }, ""],
  ];
  for (const [title, more, expected] of cases) {
    it(title, () => assert.equal(names(obsoleteTrees(facts(more))), expected));
  }

  it("removes trees of others when it is not known what a container of one stack holds", () => {
    const other = ["x", "y"].map((name, index) => ({
      path: `/data/sources/other/trees/${name}`,
      usedAt: at(index),
    }));
    const stored = [...facts({}).stored, ...other];
    for (const startedAt of [undefined, at(50)]) {
      assert.equal(names(obsoleteTrees(facts({ stored, ...held([startedAt]) }))), "x");
    }
  });

  it("keeps the newest tree of every source", () => {
    const stored = ["one", "two"].flatMap((source, index) =>
      ["old", "new"].map((name, age) => ({
        path: `/data/sources/${source}/trees/${name}`,
        usedAt: at(index * 1000 + age),
      }))
    );
    assert.deepEqual(obsoleteTrees(facts({ stored })), [
      "/data/sources/one/trees/old",
      "/data/sources/two/trees/old",
    ]);
  });

  it("takes a switch that was cut off for one that lasted until the next one was done", () => {
    const cutOff = spans.map((span) =>
      span.path === tree("c") ? { path: span.path, beganAt: span.beganAt } : span
    );
    // The switch to c may have happened, or not: b was in place until that to d was done.
    assert.equal(names(obsoleteTrees(facts(held([at(350)], [cutOff])))), "a");
  });

  it("knows a tree again that was put back", () => {
    const again = { path: tree("a"), beganAt: at(500), doneAt: at(501) };
    const found = obsoleteTrees(facts(held([at(600)], [[...spans, again]])));
    assert.equal(names(found), "bc");
  });
});
