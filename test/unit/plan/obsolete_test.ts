import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  chooseObsolete,
  type DiscoveryScan,
  type ObsoleteCandidate,
  type ObsoleteInput,
  permitsRemovals,
} from "../../../src/plan/mod.ts";
import { takesAtMost } from "../processor_time.ts";

const DELETE = { delete: true, removeVolumes: false, removeImages: true };
const KEEP = { ...DELETE, delete: false };

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
  return chooseObsolete({
    stacks: [candidate()],
    named: [],
    scans: [scan()],
    isWhole: true,
    complete: true,
    ...more,
  });
}

describe("chooseObsolete()", () => {
  it("compares a thousand stacks with as many scans as there may be, however deep they lie", async () => {
    const directories = Array.from({ length: 1000 }, (_, at) => `${"d/".repeat(1000)}${at}`);
    const stacks = directories.map((directory) => candidate({ directory }));
    const scans = directories.slice(500).map((each) => scan({ workingDir: each.slice(0, 1000) }));
    assert.ok(await takesAtMost(1000, () => assert.equal(choose({ stacks, scans }).length, 1000)));
  });

  const rows: readonly (readonly [what: string, input: Partial<ObsoleteInput>, kept?: RegExp])[] = [
    ["nothing names it", {}],
    [
      "delete is off now, whatever it was",
      { scans: [scan({ policy: KEEP })] },
      /delete is not set/,
    ],
    ["delete is on now, whatever it was", { stacks: [candidate({ policy: KEEP })] }],
    [
      "one of two covering configurations forbids it",
      { scans: [scan(), scan({ workingDir: ".", policy: KEEP })] },
      /delete is not set/,
    ],
    [
      "no configuration looks for it any more, as where enabled is false",
      { scans: [] },
      /no auto_discovery looks into apps\/shop any more; to have it removed, name it again/,
    ],
    [
      "a configuration of another directory has no say",
      { scans: [scan(), scan({ workingDir: "infra", policy: KEEP })] },
    ],
    [
      "those that look do so elsewhere",
      { scans: [scan({ workingDir: "infra" })] },
      /no auto_discovery looks into apps\/shop/,
    ],
    [
      "a configuration that does not look so deep has no say",
      {
        stacks: [candidate({ directory: "apps/x/shop" })],
        scans: [scan(), scan({ depth: 1, policy: KEEP })],
      },
    ],
    [
      "a configuration of another repository has no say",
      { scans: [scan(), scan({ repository: "h/o/x", policy: KEEP })] },
    ],
    ["something could not be read", { complete: false }, /not everything could be read/],
    ["its configuration is paused", { scans: [scan({ paused: true })] }, /paused/],
    ["the filter does not match", { scans: [scan({ admitted: false })] }, /webhook filter/],
    [
      "it runs something newer",
      { stacks: [candidate({ newer: true })] },
      /a newer commit than the one that was looked at/,
    ],
    [
      "nobody can tell whether it runs something newer",
      { stacks: [candidate({ newer: "unknown" })] },
      /does not tell any more whether it runs a newer commit; to have it removed/,
    ],
    ["the same name in another context is another stack", { named: [stackKey("nas", "shop")] }],
  ];
  for (const [what, input, kept] of rows) {
    it(`${kept === undefined ? "removes" : "keeps"} a stack when ${what}`, () => {
      const [verdict, ...others] = choose(input);
      assert.deepEqual(others, []);
      assert.equal(verdict?.kind, kept === undefined ? "remove" : "keep");
      if (verdict?.kind === "keep" && kept !== undefined) assert.match(verdict.because, kept);
    });
  }

  it("keeps a stack that a document named by itself, and says what a removal deletes", () => {
    const { policy: _none, ...stack } = candidate();
    const [verdict] = choose({ stacks: [stack], complete: false });
    assert.ok(verdict?.kind === "keep", JSON.stringify(verdict));
    assert.match(
      verdict.because,
      /name it again with destroy: \{enabled: true, remove_volumes: false\}, or with destroy: true, which deletes/,
    );
    assert.match(verdict.because, /deletes its volumes and \.\/data as well; .*\?volumes=false/);
  });

  it("is sure that nothing names a stack where all was read, and nothing newer is known", () => {
    const isSure = (input: Partial<ObsoleteInput>) => {
      const [verdict] = choose({ scans: [scan({ policy: KEEP })], ...input });
      return verdict?.kind === "keep" && verdict.isSure;
    };
    const { policy: _none, ...named } = candidate();
    assert.equal(isSure({}), true);
    assert.equal(isSure({ stacks: [named], complete: false }), true);
    assert.equal(isSure({ complete: false }), false);
    assert.equal(isSure({ stacks: [candidate({ newer: true })] }), false);
    assert.equal(isSure({ stacks: [{ ...named, newer: true }] }), false);
  });

  it("says nothing about what another poll of the repository may have discovered", () => {
    const other = candidate({ directory: "infra/db" });
    assert.deepEqual(choose({ stacks: [other], isWhole: false }), []);
    assert.equal(choose({ isWhole: false })[0]?.kind, "remove");
  });

  it("says nothing about a stack that is named", () => {
    assert.deepEqual(choose({ named: [stackKey("default", "shop")] }), []);
  });

  it("removes volumes and images only where every covering configuration permits it", () => {
    const all = { ...DELETE, removeVolumes: true };
    const none = { ...all, removeImages: false, removeVolumes: false };
    const [both] = choose({ scans: [scan({ policy: all }), scan({ policy: none })] });
    assert.deepEqual(both, {
      stack: withoutNewer(candidate()),
      kind: "remove",
      removeVolumes: false,
      removeImages: false,
    });
    const [one] = choose({ scans: [scan({ policy: all })] });
    assert.ok(one?.kind === "remove" && one.removeVolumes && one.removeImages);
  });

  it("answers in the same order whatever the order of its input is", () => {
    const stacks = ["b", "a", "c"].map((name) => candidate({ key: stackKey("", name) }));
    const names = (list: readonly ObsoleteCandidate[]) =>
      choose({ stacks: list }).map((each) => each.stack.key.name);
    assert.deepEqual(names(stacks), ["a", "b", "c"]);
    assert.deepEqual(names([...stacks].reverse()), ["a", "b", "c"]);
  });
});

function withoutNewer({ newer: _newer, ...stack }: ObsoleteCandidate) {
  return stack;
}

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
