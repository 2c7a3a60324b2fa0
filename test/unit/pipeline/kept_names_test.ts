import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors, LABELS, type Release, stackKey } from "../../../src/model/mod.ts";
import { removalFacts } from "../../../src/pipeline/destroy/remove_stack.ts";
import { namesDefinedIn } from "../../../src/pipeline/owner/claim.ts";
import { keptNames } from "../../../src/pipeline/owner/kept_names.ts";
import type { RecordedRelease } from "../../../src/record/ledger.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const SHOP = stackKey("", "shop");
const OWN = { name: "shop_own" };
const EXTERNAL = { name: "shop_store", external: true };

/** A ledger in which each of these models is a deployed release, one after the other. */
function ledgerOf(
  ...models: readonly (readonly [name: string, model: object, swarm?: Release["swarm"]])[]
) {
  const ledger = createMemoryLedger(createFakeClock());
  for (const [name, more, swarm] of models) {
    const release = releaseOf(stackKey("", name), "a".repeat(40));
    const model = { ...release.model, ...more };
    const intent = ledger.beginDeploy({ ...release, model, ...(swarm && { swarm }) });
    ledger.deployed(intent, {}, "");
  }
  return ledger;
}

describe("keptNames()", () => {
  it("keeps what the stack's own release calls external, but copies of its files", async () => {
    const why = await keptNames(
      ledgerOf(
        ["shop", { volumes: { store: { name: "shop_store" } } }],
        ["shop", { volumes: { store: EXTERNAL, own: OWN }, networks: { n: EXTERNAL } }],
      ),
      SHOP,
    );
    const thing = (name: string, labels = {}) => ({ name, labels });
    const told = "release 2 calls it external";
    assert.equal(why(thing("shop_store"), "volume"), told);
    assert.equal(why(thing("shop_store"), "network"), told);
    assert.equal(why(thing("shop_store"), "container"), undefined);
    assert.equal(why(thing("shop_own"), "volume"), undefined);
    assert.equal(why(thing("shop_store", { [LABELS.files]: "shop_store" }), "volume"), undefined);
  });

  it("keeps all volumes where a release of another stack cannot be read", async () => {
    const ledger = ledgerOf(["shop", { volumes: { own: OWN } }], ["other", {}]);
    const open = (release: RecordedRelease) => {
      if (release.key.name === "other") throw errors.ledger_unusable("another key");
      return ledger.open(release);
    };
    const why = await keptNames(Object.assign(Object.create(ledger), { open }), SHOP);
    const told = "release 1 of other cannot be read, and may have it";
    assert.equal(why({ ...OWN, labels: {} }, "volume"), told);
    assert.equal(why({ ...OWN, labels: {} }, "network"), undefined);
  });

  it("keeps what the last good release of a removed stack calls external, whatever failed after it", async () => {
    const ledger = ledgerOf(["shop", { volumes: { store: EXTERNAL } }]);
    ledger.fail(ledger.beginDeploy(releaseOf(SHOP, "b".repeat(40))), "failed", "no image");
    const ask = async () => (await keptNames(ledger, SHOP))({ ...EXTERNAL, labels: {} }, "volume");
    assert.equal(await ask(), "release 1 calls it external");
    ledger.destroyed(ledger.beginDestroy(SHOP, {}), "removed but for its data");
    assert.equal(await ask(), "release 1 calls it external");
  });

  it("keeps what only services of inactive profiles have, and gives no other stack its name", async () => {
    const ledger = ledgerOf(["shop", {}]);
    const unused = {
      volumes: { a: OWN, b: EXTERNAL, c: { name: "one_c" }, d: { name: "one_d_e" } },
    };
    const release = { ...releaseOf(stackKey("", "one"), "b".repeat(40)), unused };
    ledger.deployed(ledger.beginDeploy(release), {}, "");
    const why = await keptNames(ledger, SHOP);
    const told = [OWN, EXTERNAL].map(({ name }) => why({ name, labels: {} }, "volume"));
    assert.deepEqual(told, ["stack one defines it", "stack one calls it external"]);
    const own = await keptNames(ledger, release.key);
    assert.match(own({ ...EXTERNAL, labels: {} }, "volume") ?? "", /^release 1 calls it external/);
    const defined = () => [...namesDefinedIn(ledger, SHOP)("volumes", "one")];
    assert.deepEqual(defined(), ["one_c", "one_d_e"]);
    ledger.deployed(ledger.beginDeploy(releaseOf(stackKey("", "one_d"), "c".repeat(40))), {}, "");
    assert.deepEqual(defined(), ["one_c"]);
  });

  it("keeps volumes that other stacks of the context name, and no networks", async () => {
    const ledger = ledgerOf(
      ["shop", { volumes: { own: OWN } }],
      ["one", { volumes: { v: OWN }, networks: { n: { name: "shop_n" } } }],
      ["two", { volumes: { v: EXTERNAL, t: { name: "t-{{.Node.Hostname}}" } } }],
      ["three", { volumes: { t: { name: "s-{{.Node.Hostname}}" } } }, {}],
    );
    const why = await keptNames(ledger, SHOP);
    const ask = (name: string) => why({ name, labels: {} }, "volume");
    assert.equal(ask("shop_own"), "stack one defines it");
    assert.equal(ask("shop_store"), "stack two calls it external");
    assert.equal(ask("s-node1"), "stack three defines it");
    assert.equal(ask("t-node1"), undefined);
    assert.equal(ask("shop_other"), undefined);
    assert.equal(why({ name: "shop_n", labels: {} }, "network"), undefined);
    const elsewhere = await keptNames(ledger, stackKey("other", "shop"));
    assert.equal(elsewhere({ ...OWN, labels: {} }, "volume"), undefined);
    for (const context of ["default", "other"]) {
      ledger.owners.noteEngine(context, { id: "engine", hostname: "host", cluster: "" });
    }
    const beside = await keptNames(ledger, stackKey("other", "shop"));
    assert.equal(beside({ ...OWN, labels: {} }, "volume"), "stack one defines it");
  });
});

describe("removalFacts()", () => {
  const policy = { delete: true, removeVolumes: true, removeImages: true };
  const owner = { source: "a", target: "", reference: "refs/heads/main" };
  const stack = { key: SHOP, owner, repository: "a", directory: "shop", policy };
  const asked = { removeVolumes: true, removeImages: true, complete: true };

  it("knows which stacks of the run may be on its engine, and which of them were never deployed", () => {
    const ledger = ledgerOf(["shop", {}, {}], ["one", {}]);
    const wanted = [stackKey("", "one"), stackKey("", "fresh"), stackKey("other", "else")];
    const told = () => {
      const { isStack, successors } = removalFacts({ ledger }, SHOP, { ...asked, wanted });
      assert.ok(isStack);
      return successors.map(({ key, isNew }) => [key.name, isNew]);
    };
    assert.deepEqual(told(), [["one", false], ["fresh", true], ["else", true]]);
    for (const context of ["default", "other"]) {
      ledger.owners.noteEngine(context, { id: context, hostname: context, cluster: "" });
    }
    assert.deepEqual(told(), [["one", false], ["fresh", true]]);
  });

  it("takes one that was unnamed, and is named again, for new: a rename may be taken back", () => {
    const ledger = ledgerOf(["shop", {}], ["one", {}]);
    const one = stackKey("", "one");
    const isNew = () =>
      removalFacts({ ledger }, SHOP, { ...asked, wanted: [one] }).successors[0]?.isNew;
    assert.equal(isNew(), false);
    ledger.discovered.set({ ...stack, key: one, fresh: [SHOP] });
    assert.equal(isNew(), true);
  });
});
