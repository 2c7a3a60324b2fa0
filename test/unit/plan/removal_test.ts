import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  afterTurns,
  decideRemoval,
  deletesVolumes,
  type DiscoveryScan,
  type RemovalFacts,
  type Unnamed,
  whenRemoved,
} from "../../../src/plan/mod.ts";
import { fractionsFrom } from "../../fakes/random.ts";

const POLICY = { delete: true, removeVolumes: true, removeImages: true };
const SHOP = {
  key: stackKey("", "shop"),
  owner: { source: "h/o/r", target: "", reference: "refs/heads/main" },
  repository: "h/o/r",
  directory: "apps/shop",
  policy: POLICY,
};
const SCAN: DiscoveryScan = {
  repository: "h/o/r",
  workingDir: "apps",
  depth: 0,
  policy: POLICY,
  paused: false,
  admitted: true,
};
const UNNAMED: Unnamed = { stack: SHOP, newer: false, covering: [SCAN], isPart: false };
const ONE = { key: stackKey("", "one"), isNew: false };
const NEW = { key: stackKey("", "new"), isNew: true };
const NAS = { key: stackKey("nas", "shop") };
/** A stack with `destroy`. */
const NAMED: RemovalFacts & { readonly unnamed?: undefined } = {
  removeVolumes: true,
  removeImages: true,
  isStack: false,
  successors: [ONE],
  complete: true,
};
const FACTS = { ...NAMED, unnamed: UNNAMED };
const done = { ...ONE, isDeployed: true };
const failed = { ...ONE, isDeployed: false };
const fresh: Unnamed = { ...UNNAMED, stack: { ...SHOP, fresh: [NEW.key] } };

describe("decideRemoval(), of a stack that nothing names any more", () => {
  const KEEP = { ...POLICY, delete: false };
  const { policy: _none, ...written } = SHOP;
  const rows: readonly (readonly [
    what: string,
    unnamed: Partial<Unnamed>,
    verdict: "remove" | "keep" | "hold",
    because?: RegExp,
    complete?: false,
  ])[] = [
    ["nothing names it", {}, "remove"],
    [
      "delete is off now, whatever it was",
      { covering: [{ ...SCAN, policy: KEEP }] },
      "keep",
      /delete is not set/,
    ],
    ["delete is on now, whatever it was", { stack: { ...SHOP, policy: KEEP } }, "remove"],
    [
      "one of two covering configurations forbids it",
      { covering: [SCAN, { ...SCAN, policy: KEEP }] },
      "keep",
      /delete is not set/,
    ],
    [
      "no configuration looks for it any more, as where enabled is false",
      { covering: [] },
      "keep",
      /no auto_discovery looks into apps\/shop any more; to have it removed, name it again/,
    ],
    ["something could not be read", {}, "keep", /not everything could be read/, false],
    ["its configuration is paused", { covering: [{ ...SCAN, paused: true }] }, "keep", /paused/],
    [
      "the filter does not match",
      { covering: [SCAN, { ...SCAN, admitted: false }] },
      "keep",
      /webhook filter/,
    ],
    ["it runs something newer", { newer: true }, "keep", /a newer commit than the one that was/],
    [
      "nobody can tell whether it runs something newer",
      { newer: "unknown" },
      "keep",
      /does not tell any more whether it runs a newer commit; to have it removed/,
    ],
    [
      "a document named it by itself",
      { stack: written },
      "keep",
      /name it again with destroy: .*remove_volumes: false\}, or .* its volumes and \.\/data as well/,
      false,
    ],
    [
      "a link leads on from its directory",
      { there: "apps/shop is a symlink now, which no discovery follows" },
      "keep",
      /^apps\/shop is a symlink .* follows: remove that, too, if it is to go$/,
    ],
    ["others have it", { others: "it is theirs" }, "keep", /^it is theirs$/],
    ["a person holds it", { held: "held" }, "hold", /^held; waiting: removal, which deletes its/],
    [
      "a person holds it, and others have it",
      { held: "held", others: "it is theirs" },
      "hold",
      /^held/,
    ],
    ["very many would go", { mass: "7 of 8" }, "hold", /^7 of 8$/],
    [
      "another context names it",
      { elsewhere: "nas has it", held: "held" },
      "keep",
      /^nas has it$/,
    ],
    ["another context is to have it first", { movedTo: NAS }, "remove"],
    [
      "another context has not deployed it",
      { movedTo: { ...NAS, isDeployed: false } },
      "hold",
      /shop is named by context nas, which has not deployed it as this commit has it/,
    ],
    ["another context has deployed it", { movedTo: { ...NAS, isDeployed: true } }, "remove"],
  ];
  for (const [what, more, kind, because, complete = true] of rows) {
    it(`says ${kind} when ${what}`, () => {
      const facts = { ...FACTS, complete, unnamed: { ...UNNAMED, ...more } };
      const verdict = decideRemoval(facts);
      assert.equal(verdict.kind, kind);
      if (verdict.kind !== "remove") assert.match(verdict.because, because ?? /never/);
    });
  }

  it("is sure that nothing names it where all was read, and nothing newer is known", () => {
    const isSure = (more: Partial<Unnamed>, complete = true) => {
      const unnamed = { ...UNNAMED, covering: [], ...more };
      const verdict = decideRemoval({ ...FACTS, complete, unnamed });
      return verdict.kind === "keep" && verdict.isSure;
    };
    assert.equal(isSure({}), true);
    assert.equal(isSure({ stack: written }, false), true);
    assert.equal(isSure({}, false), false);
    assert.equal(isSure({ newer: true }), false);
    assert.equal(isSure({ stack: written, newer: true }), false);
  });
});

describe("decideRemoval(), of data", () => {
  /** What goes, what is waited for, and why something stays; `(…)` goes later. */
  const rows: readonly (readonly [
    what: string,
    facts: Partial<Omit<RemovalFacts, "unnamed">> & { readonly unnamed?: Unnamed | undefined },
    goes: string,
    after: readonly string[],
    stays?: RegExp,
  ])[] = [
    ["no other stack is wanted", { successors: [] }, "volumes images", []],
    ["another one's turn has not come", {}, "(volumes images)", ["one"]],
    ["the others are deployed", { successors: [done] }, "volumes images", []],
    [
      "another one is not deployed",
      { successors: [failed] },
      "",
      [],
      /volumes .*one is named and not deployed as this commit has it/,
    ],
    [
      "another one is not deployed, and no data would go",
      { removeVolumes: false, successors: [failed] },
      "",
      [],
      /^its images: one is named/,
    ],
    [
      "one was never deployed before, and is now",
      { successors: [{ ...NEW, isDeployed: true }] },
      "images",
      [],
      /new is named and not deployed yet, .* rename/,
    ],
    [
      "one was new when it was first found unnamed",
      { unnamed: fresh, successors: [done] },
      "images",
      [],
      /new came when nothing named it any more/,
    ],
    [
      "other polls may go on with it",
      { unnamed: { ...UNNAMED, isPart: true } },
      "(images)",
      ["one"],
      /another poll/,
    ],
    [
      "something came meanwhile",
      { successors: [done], meanwhile: "r2 came" },
      "",
      [],
      /mounts: r2 came$/,
    ],
    [
      "it came back",
      { successors: [done], isOver: true },
      "",
      [],
      /mounts: it was changed meanwhile$/,
    ],
    ["no data goes, and one is new", { removeVolumes: false, successors: [NEW] }, "(images)", [
      "new",
    ]],
    ["nothing is to go", { removeVolumes: false, removeImages: false }, "", []],
    [
      "it is one of a swarm, whose volumes go in any case",
      { removeVolumes: false, isStack: true, successors: [] },
      "volumes images",
      [],
    ],
    [
      "it is one of a swarm, and another one is new",
      { removeVolumes: false, isStack: true, successors: [NEW] },
      "(images)",
      ["new"],
      /new is named/,
    ],
    ["it has destroy", { unnamed: undefined, successors: [done] }, "volumes images", []],
    [
      "it has destroy, and one is new: it goes under its own name",
      { unnamed: undefined, successors: [{ ...NEW, isDeployed: true }] },
      "volumes images",
      [],
    ],
    [
      "it has destroy, and another one is not deployed",
      { unnamed: undefined, successors: [failed] },
      "()",
      [],
      /^its data and images for now: not deployed as this commit has it, and may .* them: one$/,
    ],
    [
      "it has destroy, and not all could be read",
      { unnamed: undefined, successors: [], complete: false },
      "()",
      [],
      /for now: not all that its configuration names could be read$/,
    ],
    [
      "it has destroy, and a person removed it meanwhile",
      { unnamed: undefined, successors: [failed], isOver: true },
      "",
      [],
      /mounts: it was changed meanwhile$/,
    ],
    [
      "it has destroy without data, and not all could be read",
      { unnamed: undefined, complete: false, removeVolumes: false, removeImages: false },
      "",
      [],
    ],
  ];
  const decide = (facts: RemovalFacts) => {
    const verdict = decideRemoval(facts);
    assert.ok(verdict.kind === "remove", JSON.stringify(verdict));
    return verdict;
  };
  for (const [what, more, goes, after, stays] of rows) {
    it(`says what goes where ${what}`, () => {
      const verdict = decide({ ...FACTS, ...more } as RemovalFacts);
      const words = ({ removeVolumes, removeImages }: typeof verdict["now"]) =>
        [removeVolumes ? "volumes" : "", removeImages ? "images" : ""].join(" ").trim();
      const later = verdict.again ? `(${words(verdict.later)})` : words(verdict.later);
      assert.equal(words(verdict.now) + later, goes);
      assert.deepEqual(verdict.after.map(({ name }) => name), after);
      assert.match(verdict.stays.join(), stays ?? /^$/);
    });
  }

  it("is asked again when the others had their turn", () => {
    const facts = { ...FACTS, successors: [ONE, NEW] };
    const { now, again, stays } = decide(afterTurns(facts, ({ name }) => name === "new"));
    assert.deepEqual([now.removeImages, again], [false, false]);
    assert.match(stays.join(), /new is named and not deployed yet/);
    const moved = { ...FACTS, unnamed: { ...UNNAMED, movedTo: NAS } };
    assert.equal(decideRemoval(afterTurns(moved, () => false)).kind, "hold");
    assert.equal(decideRemoval(afterTurns(moved, () => true)).kind, "remove");
  });

  it("is told of before, with what it comes after", () => {
    const when = (facts: RemovalFacts) => whenRemoved(facts, decide(afterTurns(facts, () => true)));
    assert.match(when(FACTS), /^; its data goes last/);
    assert.match(when(NAMED), /^; its data goes last/);
    assert.equal(when({ ...FACTS, successors: [] }), "");
    assert.equal(when({ ...FACTS, removeVolumes: false }), "");
    const moved = { ...FACTS, successors: [], unnamed: { ...UNNAMED, movedTo: NAS } };
    assert.match(when(moved), /^; once context nas has deployed it/);
  });

  it("deletes nothing, whatever else is so, that a stack which is not deployed may go on with", () => {
    const random = fractionsFrom(7);
    const one = <T>(...values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
    for (let count = 0; count < 5000; count++) {
      const successors = Array.from({ length: one(0, 1, 2) }, () => ({
        ...one(ONE, NEW),
        ...one({}, { isDeployed: true }, { isDeployed: false }),
      }));
      const unnamed = one(undefined, fresh, { ...UNNAMED, isPart: one(true, false) });
      const facts = {
        ...{ successors, unnamed, complete: one(true, false), isStack: one(true, false) },
        ...{ removeVolumes: one(true, false), removeImages: one(true, false) },
        ...one({}, { meanwhile: "it" }, { isOver: true }),
      } as RemovalFacts;
      const verdict = decideRemoval(facts);
      if (verdict.kind !== "remove") continue;
      const { now, again, stays } = verdict;
      const isAny = now.removeVolumes || now.removeImages;
      const told = JSON.stringify([facts, verdict]);
      if (isAny) assert.ok(successors.every((each) => each.isDeployed === true), told);
      if (now.removeVolumes) {
        assert.ok(
          unnamed === undefined || unnamed === UNNAMED ||
            !unnamed.isPart && unnamed !== fresh && !successors.some(({ isNew }) => isNew),
          told,
        );
      }
      if (again) assert.equal(isAny, false, told);
      const asks = facts.removeVolumes || facts.isStack || facts.removeImages;
      if (asks && !isAny && !again) assert.ok(stays.length > 0, told);
      if (stays.length > 0) assert.equal(deletesVolumes(verdict), false, told);
    }
  });
});
