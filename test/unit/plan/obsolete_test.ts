import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  chooseUnnamed,
  type DiscoveryScan,
  type ObsoleteCandidate,
  type ObsoleteInput,
  permitsRemovals,
} from "../../../src/plan/mod.ts";
import { takesAtMost } from "../processor_time.ts";

const DELETE = { delete: true, removeVolumes: false, removeImages: true };

function candidate(more: Partial<ObsoleteCandidate> = {}): ObsoleteCandidate {
  return {
    key: stackKey("", "shop"),
    owner: { source: "h/o/r", target: "", reference: "refs/heads/main" },
    repository: "h/o/r",
    directory: "apps/shop",
    policy: DELETE,
    newer: false,
    ...more,
  };
}

function scan(more: Partial<DiscoveryScan> = {}): DiscoveryScan {
  return {
    repository: "h/o/r",
    workingDir: "apps",
    depth: 0,
    policy: DELETE,
    paused: false,
    admitted: true,
    ...more,
  };
}

function choose(more: Partial<ObsoleteInput> = {}) {
  return chooseUnnamed({
    stacks: [candidate()],
    named: [],
    scans: [scan()],
    isWhole: true,
    ...more,
  });
}

describe("chooseUnnamed()", () => {
  it("compares a thousand stacks with as many scans as there may be, however deep they lie", async () => {
    const directories = Array.from({ length: 1000 }, (_, at) => `${"d/".repeat(1000)}${at}`);
    const stacks = directories.map((directory) => candidate({ directory }));
    const scans = directories.slice(500).map((each) => scan({ workingDir: each.slice(0, 1000) }));
    assert.ok(await takesAtMost(1000, () => assert.equal(choose({ stacks, scans }).length, 1000)));
  });

  const rows:
    readonly (readonly [what: string, input: Partial<ObsoleteInput>, covering: number])[] = [
      ["they look into it", { scans: [scan({ workingDir: "." }), scan()] }, 2],
      ["there is none", { scans: [] }, 0],
      ["one is of another directory", { scans: [scan(), scan({ workingDir: "infra" })] }, 1],
      ["all look elsewhere", { scans: [scan({ workingDir: "infra" })] }, 0],
      [
        "one does not look so deep",
        { stacks: [candidate({ directory: "apps/x/shop" })], scans: [scan(), scan({ depth: 1 })] },
        1,
      ],
      ["one is of another repository", { scans: [scan(), scan({ repository: "h/o/x" })] }, 1],
      ["a stack of its name is in another context", { named: [stackKey("nas", "shop")] }, 1],
    ];
  for (const [what, input, covering] of rows) {
    it(`tells which scans decide about a stack when ${what}`, () => {
      const { newer, ...stack } = input.stacks?.[0] ?? candidate();
      const scans = (input.scans ?? [scan()]).slice(0, covering);
      assert.deepEqual(choose(input), [{ stack, newer, covering: scans }]);
    });
  }

  it("says nothing about what another poll of the repository may have discovered", () => {
    const other = candidate({ directory: "infra/db" });
    assert.deepEqual(choose({ stacks: [other], isWhole: false }), []);
    assert.equal(choose({ isWhole: false }).length, 1);
  });

  it("says nothing about a stack that is named", () => {
    assert.deepEqual(choose({ named: [stackKey("default", "shop")] }), []);
  });

  it("answers in the same order whatever the order of its input is", () => {
    const stacks = ["b", "a", "c"].map((name) => candidate({ key: stackKey("", name) }));
    const names = (list: readonly ObsoleteCandidate[]) =>
      choose({ stacks: list }).map((each) => each.stack.key.name);
    assert.deepEqual(names(stacks), ["a", "b", "c"]);
    assert.deepEqual(names([...stacks].reverse()), ["a", "b", "c"]);
  });
});

describe("permitsRemovals()", () => {
  const keys = (count: number) =>
    Array.from({ length: count }, (_, index) => stackKey("", `s${index}`));
  const names = (count: number) => keys(count).map((key) => `default/${key.name}`);
  const rows: readonly (readonly [
    removals: number,
    owned: number,
    origin: "automatic" | "manual",
    pending: readonly string[],
    permitted: boolean,
    why: string,
  ])[] = [
    [5, 5, "automatic", [], true, "five are few"],
    [6, 6, "automatic", [], false, "six of six are many"],
    [6, 12, "automatic", [], false, "half is many"],
    [6, 13, "automatic", [], true, "less than half is not"],
    [6, 6, "manual", [], true, "a person may"],
    [6, 6, "automatic", names(6), true, "the same as before"],
    [6, 6, "automatic", [...names(6)].reverse(), true, "in any order"],
    [6, 6, "automatic", names(7), false, "fewer than before is another result"],
    [7, 7, "automatic", names(6), false, "more than before is another result"],
    [0, 0, "automatic", [], true, "nothing is always fine"],
  ];
  for (const [removals, owned, origin, pending, permitted, why] of rows) {
    it(`${removals} of ${owned}, ${origin}: ${permitted ? "yes" : "no"}, ${why}`, () => {
      const asked = { removals: keys(removals), owned, origin, pending };
      assert.equal(permitsRemovals(asked), permitted);
    });
  }
});
