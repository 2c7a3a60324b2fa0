import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { obsoleteTrees, type TreeFacts, type TreeHolders } from "../../../src/plan/mod.ts";

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
  return { stored, needed: new Set(), holders: [], usedBefore: at(10_000), mirrored, ...more };
}

/** `a`, `b`, `c`, `d` in place, each from its hundred to the next, and containers of these times. */
function holders(...started: (number | undefined)[]): TreeHolders[] {
  const spans = ["a", "b", "c", "d"].map((name, index) => ({
    path: tree(name),
    beganAt: at(100 + index * 100),
    doneAt: at(101 + index * 100),
  }));
  return [{ spans, startedAt: started.map((each) => each === undefined ? undefined : at(each)) }];
}

function names(trees: readonly string[]): string {
  return trees.map((each) => each.slice(-1)).join("");
}

describe("obsoleteTrees()", () => {
  const cases: [string, Partial<TreeFacts>, string][] = [
    ["removes all but the newest when nothing needs them", {}, "abc"],
    ["removes the newest, too, where the mirror is gone", { mirrored: new Set() }, "abcd"],
    ["keeps what is needed", { needed: new Set([tree("b")]) }, "ac"],
    ["keeps what was used lately", { usedBefore: at(200) }, "a"],
    ["keeps the tree a container was started with", { holders: holders(150) }, "bc"],
    ["keeps one tree for each of several containers", { holders: holders(150, 350) }, "b"],
    ["keeps both trees when a container started while they changed places", {
      holders: holders(200.5),
    }, "c"],
    ["allows for clocks that differ by some seconds", { holders: holders(297) }, "a"],
    ["takes the last tree for what started after all", { holders: holders(99_999) }, "abc"],
    ["removes nothing when a container started before anything that is known", {
      holders: holders(50),
    }, ""],
    ["removes nothing of a source when it is not known when a container of its stack started", {
      holders: holders(150, undefined),
    }, ""],
    ["removes nothing when nothing is known of a stack that has containers", {
      holders: [{ spans: [], startedAt: [at(150)] }],
    }, ""],
    ["is not kept by a stack without containers", { holders: holders() }, "abc"],
    ["removes nothing where there is nothing", { stored: [] }, ""],
  ];
  for (const [title, more, expected] of cases) {
    it(title, () => assert.equal(names(obsoleteTrees(facts(more))), expected));
  }

  it("removes trees of others when it is not known when a container of one stack started", () => {
    const other = ["x", "y"].map((name, index) => ({
      path: `/data/sources/other/trees/${name}`,
      usedAt: at(index),
    }));
    const stored = [...facts({}).stored, ...other];
    assert.equal(names(obsoleteTrees(facts({ stored, holders: holders(undefined) }))), "x");
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
    const [known] = holders(250);
    assert.ok(known !== undefined);
    const spans = known.spans.map((span) =>
      span.path === tree("c") ? { path: span.path, beganAt: span.beganAt } : span
    );
    // The switch to c may have happened, or not: b was in place until that to d was done.
    const late = { spans, startedAt: [at(350)] };
    assert.equal(names(obsoleteTrees(facts({ holders: [late] }))), "a");
  });

  it("knows a tree again that was put back", () => {
    const [known] = holders();
    const again = { path: tree("a"), beganAt: at(500), doneAt: at(501) };
    const spans = [...known?.spans ?? [], again];
    const found = obsoleteTrees(facts({ holders: [{ spans, startedAt: [at(600)] }] }));
    assert.equal(names(found), "bc");
  });
});
