import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { InstanceKey, Ledger, type ShownTrees } from "../../../src/record/mod.ts";
import { createIds } from "../../../src/system/mod.ts";
import { createFakeClock, type FakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");
const key = new InstanceKey(new Uint8Array(32).fill(7));

function withLedger(work: (ledger: Ledger, clock: FakeClock) => void): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-shown-"));
    const clock = createFakeClock();
    const ledger = new Ledger(join(directory, "state.db"), {
      key,
      clock,
      ids: createIds(clock),
      redact: String,
    });
    try {
      work(ledger, clock);
    } finally {
      ledger.close();
      await rm(directory, { recursive: true, force: true });
    }
  };
}

/** The trees in their order, those whose switch was not finished with a question mark. */
const shown = (trees: ShownTrees, of = WEB) =>
  trees.of(of).map(({ tree, doneAt }) => `${tree}${doneAt === undefined ? "?" : ""}`);

describe("ShownTrees", () => {
  it(
    "remembers each switch with the time before and after it",
    withLedger(({ shownTrees }, clock) => {
      const before = clock.now();
      const done = shownTrees.begin(WEB, "trees/1", () => clock.now());
      clock.advance(1000);
      done();
      assert.deepEqual(shownTrees.of(WEB), [
        { key: WEB, tree: "trees/1", beganAt: before, doneAt: clock.now() },
      ]);
    }),
  );

  it(
    "keeps stacks apart and lists all of them",
    withLedger(({ shownTrees }, clock) => {
      shownTrees.begin(WEB, "trees/1", () => clock.now())();
      shownTrees.begin(stackKey("other", "web"), "trees/2", () => clock.now())();
      assert.deepEqual(shown(shownTrees), ["trees/1"]);
      assert.deepEqual(shownTrees.of().map((each) => each.tree), ["trees/1", "trees/2"]);
    }),
  );

  it(
    "does not repeat a tree that is in place, but does so after an interruption",
    withLedger(({ shownTrees }, clock) => {
      const begin = (tree: string) => shownTrees.begin(WEB, tree, () => clock.now());
      begin("trees/1")();
      begin("trees/1")();
      begin("trees/2");
      begin("trees/2")();
      begin("trees/1")();
      assert.deepEqual(shown(shownTrees), ["trees/1", "trees/2?", "trees/2", "trees/1"]);
    }),
  );

  it(
    "remembers the last thousand switches of a stack",
    withLedger(({ shownTrees }, clock) => {
      const other = stackKey("other", "web");
      shownTrees.begin(other, "first", () => clock.now())();
      for (let count = 0; count < 1010; count++) {
        shownTrees.begin(WEB, `${count}`, () => clock.now())();
      }
      assert.equal(shown(shownTrees).length, 1000);
      assert.deepEqual([shown(shownTrees)[0], shown(shownTrees).at(-1)], ["10", "1009"]);
      assert.deepEqual(shown(shownTrees, other), ["first"]);
    }),
  );

  it(
    "forgets trees that are gone",
    withLedger(({ shownTrees }, clock) => {
      for (const tree of ["1", "2", "1", "3"]) shownTrees.begin(WEB, tree, () => clock.now())();
      shownTrees.forget(["1"]);
      assert.deepEqual(shown(shownTrees), ["2", "3"]);
    }),
  );
});

describe("Ledger.releasesUnderWay()", () => {
  it(
    "names what is being deployed, and nothing that is done",
    withLedger((ledger) => {
      const done = ledger.beginDeploy(releaseOf(WEB, "1"));
      ledger.succeed(done, {}, "deployed");
      ledger.beginDestroy(stackKey("", "gone"), {});
      assert.deepEqual(ledger.releasesUnderWay(), []);
      const intent = ledger.beginDeploy(releaseOf(WEB, "2"));
      assert.deepEqual(ledger.releasesUnderWay().map((each) => each.id), [intent.releaseId]);
    }),
  );
});
