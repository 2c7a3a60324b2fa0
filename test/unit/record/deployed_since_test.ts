import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stackKey, type TargetDecision } from "../../../src/model/mod.ts";
import {
  deployedSinceBy,
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

/** What happens, a second after what happened before. */
type Step = (ledger: Ledger, now: Date) => void;

const begun = (ledger: Ledger, key: typeof HERE, id: string) => {
  ledger.owners.settle(key, OWNER);
  return ledger.beginDeploy(releaseOf(key, id));
};
const begin = (key: typeof HERE, id: string): Step => (ledger) => void begun(ledger, key, id);
const deploy = (key: typeof HERE, id: string): Step => (ledger) =>
  ledger.succeed(begun(ledger, key, id), {}, "done");
const fail = (key: typeof HERE, id: string): Step => (ledger) =>
  ledger.fail(begun(ledger, key, id), "rolled_back", "no");
const decide = (told: Partial<TargetDecision>, key = HERE): Step => ({ decisions }, now) =>
  void decisions.add(key, {
    ...{ trigger: "poll", origin: "automatic", revision: "", kind: "skip", reason: "no_changes" },
    ...{ message: "", changes: [], services: [] },
    ...told,
  }, now);
const destroy = (key: typeof HERE): Step => (ledger) =>
  ledger.destroyed(ledger.beginDestroy(key, {}), "gone");
const leadsTo = (id: string, cluster = ""): Step => ({ owners }) =>
  owners.noteEngine("same", { id, cluster });

/** Steps, and the contexts that have deployed the stack since: since this one, and since the other one. */
type Row = readonly [
  name: string,
  steps: readonly Step[],
  here?: "same" | undefined,
  there?: "default",
];

const MOVED = [deploy(HERE, "1"), deploy(SAME, "2")];
const ROWS: readonly Row[] = [
  ["it was deployed here alone", [deploy(HERE, "1")]],
  ["the other one deployed it later", MOVED, "same"],
  ["it does so now", [deploy(HERE, "1"), begin(SAME, "2")], "same"],
  ["what was cut off here is older", [begin(HERE, "1"), deploy(SAME, "2")], "same"],
  ["it failed by the other one", [deploy(HERE, "1"), fail(SAME, "2")]],
  ["it failed there after it was deployed", [...MOVED, fail(SAME, "3")], "same"],
  ["it came back", [...MOVED, deploy(HERE, "3")], undefined, "default"],
  ["it comes back", [...MOVED, begin(HERE, "3")], undefined, "default"],
  ["it was removed by the other one since", [...MOVED, destroy(SAME)], "same"],
  ["its source names it here, too, and nothing is to be changed", [...MOVED, decide({})]],
  ...([
    { reason: "unnamed" },
    { reason: "superseded" },
    { trigger: "reconciliation" },
    { kind: "error" },
  ] as const).map((told): Row => [
    `it is told ${JSON.stringify(told)}`,
    [...MOVED, decide(told)],
    "same",
  ]),
  [
    "it went there again, and nothing was to be changed",
    [...MOVED, deploy(HERE, "3"), decide({ reason: "unnamed" }), decide({}, SAME)],
    "same",
  ],
  [
    "both are named, and it was deployed here last",
    [...MOVED, deploy(HERE, "3"), decide({}, SAME)],
    undefined,
  ],
  ["the other one leads elsewhere", [leadsTo("b"), ...MOVED]],
  ["the other engine is in the same swarm, and the stack is none of it", [
    leadsTo("b", "c"),
    ...MOVED,
  ]],
  ["nothing was deployed here", [deploy(SAME, "2")]],
];

/** A ledger of two contexts that lead to one engine, after some steps. */
async function after(steps: readonly Step[]): Promise<Ledger> {
  const clock = createFakeClock();
  const ledger = createMemoryLedger(clock);
  for (const context of ["default", "same"]) {
    ledger.owners.noteEngine(context, { id: "a", cluster: "c" });
  }
  for (const step of steps) {
    step(ledger, clock.now());
    await clock.advance(1000);
  }
  return ledger;
}

describe("the context that has deployed a stack since", () => {
  for (const [name, steps, here, there] of ROWS) {
    it(`is ${here ?? "none"} where ${name}`, async () => {
      const ledger = await after(steps);
      assert.equal(deployedSinceBy(ledger, HERE), here);
      if (there !== undefined) assert.equal(deployedSinceBy(ledger, SAME), there);
    });
  }

  it("is named with what a person can do, and refuses", async () => {
    requireDeployedHere(await after([deploy(HERE, "1")]), HERE, "removed");
    const ledger = await after(MOVED);
    assert.match(
      whyElsewhere(ledger, HERE) ?? "",
      /^shop was deployed by context same since, .*\(stackwright forget shop\).* id of its own$/,
    );
    assert.throws(() => requireDeployedHere(ledger, HERE, "removed"), {
      code: "conflict",
      message: /^shop is not removed: shop was deployed by context same since/,
    });
    assert.equal(whyElsewhere(ledger, SAME), undefined);
  });

  it("is none of another owner: whose the stack is, is asked elsewhere", async () => {
    const theirs: Step = (ledger) => {
      ledger.owners.settle(SAME, { source: "h.example/other", reference: "refs/heads/main" });
      ledger.succeed(ledger.beginDeploy(releaseOf(SAME, "2")), {}, "done");
    };
    assert.equal(deployedSinceBy(await after([deploy(HERE, "1"), theirs]), HERE), undefined);
  });
});
