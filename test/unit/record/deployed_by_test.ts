import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import {
  deployedBy,
  type Ledger,
  requireDeployedHere,
  whyElsewhere,
} from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "./releases.ts";

const HERE = stackKey("", "shop");
const SAME = stackKey("same", "shop");
const OWNER = { source: "h.example/o/r", reference: "refs/heads/main" };
const OTHER = { ...OWNER, source: "h.example/other" };

/** What happens, at a time of the wall clock that may lie before the last one. */
type Step = (ledger: Ledger) => void;

const begun = (ledger: Ledger, key: typeof HERE, id: string, owner = OWNER) => {
  ledger.owners.settle(key, owner);
  return ledger.beginDeploy(releaseOf(key, id));
};
const begin = (key: typeof HERE, id: string): Step => (ledger) => void begun(ledger, key, id);
const deploy = (key: typeof HERE, id: string, owner = OWNER): Step => (ledger) =>
  ledger.succeed(begun(ledger, key, id, owner), {}, "done");
const fail = (key: typeof HERE, id: string): Step => (ledger) =>
  ledger.fail(begun(ledger, key, id), "rolled_back", "no");
const destroy = (key: typeof HERE): Step => (ledger) =>
  ledger.destroyed(ledger.beginDestroy(key, {}), "gone");
const leadsTo = (id: string, cluster = ""): Step => ({ owners }) =>
  owners.noteEngine("same", { id, cluster });

/** Steps, and the other context that deploys the stack for the one, and for the other. */
type Row = readonly [
  name: string,
  steps: readonly Step[],
  here: "same" | undefined,
  there: "default" | undefined,
];

const BOTH = [leadsTo("b"), deploy(HERE, "1"), deploy(SAME, "2"), leadsTo("a")];
const ROWS: readonly Row[] = [
  ["nothing was deployed", [], undefined, undefined],
  ["it was deployed here", [deploy(HERE, "1")], undefined, "default"],
  ["it is being deployed here for the first time", [begin(HERE, "1")], undefined, "default"],
  ["its first release here failed", [fail(HERE, "1")], undefined, undefined],
  ["it was removed here", [deploy(HERE, "1"), destroy(HERE)], undefined, undefined],
  ["two engines became one, and the other one deployed it later", BOTH, "same", undefined],
  ["it failed there since", [...BOTH, fail(SAME, "3")], "same", undefined],
  [
    "it failed there a hundred times since",
    [...BOTH, ...Array.from({ length: 100 }, (_, at) => fail(SAME, `f${at}`))],
    "same",
    undefined,
  ],
  ["it was removed there", [...BOTH, destroy(SAME)], undefined, "default"],
  [
    "the other one is another owner's",
    [
      leadsTo("b"),
      deploy(HERE, "1"),
      deploy(SAME, "2", OTHER),
      leadsTo("a"),
    ],
    undefined,
    undefined,
  ],
  ["the other one leads elsewhere", [leadsTo("b"), deploy(HERE, "1")], undefined, undefined],
  [
    "the other engine is in the same swarm, and the stack is none of it",
    [leadsTo("b", "c"), deploy(HERE, "1")],
    undefined,
    undefined,
  ],
];

/** A ledger of two contexts that lead to one engine, after some steps; its clock is set back at each. */
async function after(steps: readonly Step[]): Promise<Ledger> {
  const clock = createFakeClock();
  await clock.advance(steps.length * 1000);
  const ledger = createMemoryLedger({
    ...clock,
    now: () => new Date(clock.now().getTime() - 1000 * (at++)),
  });
  let at = 0;
  for (const context of ["default", "same"]) {
    ledger.owners.noteEngine(context, { id: "a", cluster: "c" });
  }
  for (const step of steps) step(ledger);
  return ledger;
}

describe("the other context of its engine that deploys a stack", () => {
  for (const [name, steps, here, there] of ROWS) {
    it(`is ${here ?? "none"}, and for that one ${there ?? "none"}, where ${name}`, async () => {
      const ledger = await after(steps);
      assert.deepEqual([deployedBy(ledger, HERE), deployedBy(ledger, SAME)], [here, there]);
    });
  }

  it("is named with what a person can do, and refuses", async () => {
    const ledger = await after([deploy(SAME, "1")]);
    assert.match(
      whyElsewhere(ledger, HERE) ?? "",
      /^shop is deployed by context same, .*\(stackwright forget --context same shop\).* id of its own$/,
    );
    assert.throws(() => requireDeployedHere(ledger, HERE, "removed"), {
      code: "conflict",
      message: /^shop is not removed: shop is deployed by context same,/,
    });
    requireDeployedHere(ledger, SAME, "removed");
  });

  it("is none for another owner, who is told whose the stack is", async () => {
    const ledger = await after([deploy(HERE, "1")]);
    assert.equal(deployedBy(ledger, SAME, OTHER), undefined);
  });
});
