import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { afterTurns, type DataFacts, decideData } from "../../../src/plan/mod.ts";

const ONE = { key: stackKey("", "one"), isNew: false };
const NEW = { key: stackKey("", "new"), isNew: true };
const FACTS: DataFacts = {
  removeVolumes: true,
  removeImages: true,
  isStack: false,
  successors: [ONE],
  fresh: [],
  isPart: false,
};

describe("decideData()", () => {
  const done = { ...ONE, isDeployed: true };
  const failed = { ...ONE, isDeployed: false };
  /** What goes, what is waited for, and why something stays. */
  const rows: readonly (readonly [
    what: string,
    facts: Partial<DataFacts>,
    meanwhile: string | undefined,
    goes: string,
    after: readonly string[],
    kept?: RegExp,
  ])[] = [
    ["no other stack is wanted", { successors: [] }, undefined, "volumes images", []],
    ["another one's turn has not come", {}, undefined, "volumes images", ["one"]],
    ["the others are deployed", { successors: [done] }, undefined, "volumes images", []],
    [
      "another one is not deployed",
      { successors: [failed] },
      undefined,
      "",
      [],
      /volumes .*one is named and not deployed as this commit has it/,
    ],
    [
      "another one is not deployed, and no data would go",
      { removeVolumes: false, successors: [failed] },
      undefined,
      "",
      [],
      /^its images: one is named/,
    ],
    [
      "one was never deployed before, and is now",
      { successors: [{ ...NEW, isDeployed: true }] },
      undefined,
      "images",
      [],
      /new is named and not deployed yet, .* rename/,
    ],
    [
      "one was new when it was first found unnamed",
      { fresh: [NEW.key], successors: [done] },
      undefined,
      "images",
      [],
      /new came when nothing named it any more/,
    ],
    [
      "other polls may go on with it",
      { isPart: true },
      undefined,
      "images",
      ["one"],
      /another poll/,
    ],
    ["something came meanwhile", { successors: [done] }, "r2 came", "", [], /mounts: r2 came$/],
    [
      "no data goes, and one is new",
      { removeVolumes: false, successors: [NEW] },
      undefined,
      "images",
      [
        "new",
      ],
    ],
    ["nothing is to go", { removeVolumes: false, removeImages: false }, undefined, "", []],
    [
      "it is one of a swarm, whose volumes go in any case",
      { removeVolumes: false, isStack: true, successors: [] },
      undefined,
      "volumes images",
      [],
    ],
    [
      "it is one of a swarm, and another one is new",
      { removeVolumes: false, isStack: true, successors: [NEW] },
      undefined,
      "images",
      ["new"],
      /new is named/,
    ],
  ];
  for (const [what, facts, meanwhile, goes, after, kept] of rows) {
    it(`says what goes where ${what}`, () => {
      const fate = decideData({ ...FACTS, ...facts }, meanwhile);
      const { removeVolumes, removeImages, keepsStackVolumes } = fate.what;
      const told = [removeVolumes ? "volumes" : "", removeImages ? "images" : ""];
      assert.equal(told.join(" ").trim(), goes);
      assert.deepEqual(fate.after.map(({ name }) => name), after);
      assert.match(fate.kept.join(), kept ?? /^$/);
      if (keepsStackVolumes) assert.equal(removeVolumes, false);
    });
  }

  it("is asked again when the others had their turn", () => {
    const facts = { ...FACTS, successors: [ONE, NEW] };
    const { what, kept } = decideData(afterTurns(facts, ({ name }) => name === "new"));
    assert.equal(what.removeImages, false);
    assert.match(kept.join(), /new is named and not deployed yet/);
  });
});
