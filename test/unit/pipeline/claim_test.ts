import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";
import { readMark } from "../../../src/deploy/mod.ts";
import { claimOf, handedOverWith, withSeen } from "../../../src/pipeline/owner/claim.ts";
import { type Claim, whose, whyKept } from "../../../src/pipeline/owner/whose.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const OWNER = { source: "git.example.com/me/conf", reference: "refs/heads/main" };
const ours = (source?: string) => ({
  [LABELS.manager]: MANAGER,
  ...(source === undefined ? {} : { [LABELS.sourceName]: source }),
});
const OTHER = "git.example.com/them/app";

/** Why a destroy leaves a volume. */
const whyNot = (claim: Claim, { name, labels }: { name: string; labels: Record<string, string> }) =>
  whyKept(whose(readMark(labels), claim, name));

describe("claimOf()", () => {
  const key = stackKey("", "shop");
  /** A ledger with a release whose model has a volume. */
  function ledgerWith(volume: object, more: object = {}) {
    const ledger = createMemoryLedger(createFakeClock());
    const release = releaseOf(key, "a".repeat(40));
    ledger.owners.settle(key, { source: release.revision.source.name, reference: "" });
    const model = { ...release.model, volumes: { store: volume } };
    ledger.beginDeploy({ ...release, model, ...more });
    return ledger;
  }
  const why = (volume: object, name: string, more?: object) =>
    whyNot(claimOf(ledgerWith(volume, more), key), { name, labels: {} });

  it("finds what a release mounted that was there before the stack, in a swarm also by a template", () => {
    assert.equal(why({ name: "shop_store" }, "shop_store"), undefined);
    const template = { name: "s-{{.Task.Slot}}", labels: ours("x") };
    assert.equal(why(template, "s-1", { swarm: { prune: true } }), undefined);
    assert.match(why(template, "s-1") ?? "", /another manager/);
    assert.match(why({ name: "shop_store" }, "shop_other") ?? "", /another manager/);
    assert.match(why({ name: "shop_store", labels: ours("x") }, "shop_store") ?? "", /another/);
    assert.match(why({ name: "shop_store", external: true }, "shop_store") ?? "", /another/);
  });

  it("knows the source by containers where nothing is recorded", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const volume = { name: "shop_store", labels: ours(OTHER) };
    const claim = claimOf(ledger, key, { by: OWNER });
    assert.notEqual(whyNot(claim, volume), undefined);
    const by = (source: string) => ({ ...ours(OTHER), [LABELS.sourceConfiguration]: source });
    assert.equal(whyNot(withSeen(claim, [{ labels: by(OWNER.source) }]), volume), undefined);
    for (const labels of [by(OTHER), ours(OTHER)]) {
      assert.notEqual(whyNot(withSeen(claim, [{ labels }]), volume), undefined);
    }
  });

  it("leaves what cannot be told because a release is gone", () => {
    const ledger = ledgerWith({ name: "shop_store" });
    const { owners, current, history } = ledger;
    const { taken } = createMemoryLedger(createFakeClock());
    const volume = { name: "shop_store", labels: {} };
    const claim = claimOf({ owners, current, history, taken }, key);
    assert.match(whyNot(claim, volume) ?? "", /another manager/);
  });

  it("counts no release as deployed that failed, or that was taken back for what ran before it", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const deployed = () => claimOf(ledger, key, { by: OWNER }).hasDeployed();
    assert.equal(deployed(), false);
    const begin = () => ledger.beginDeploy(releaseOf(key, "a".repeat(40), { configuration }));
    const { revision } = releaseOf(key, "a".repeat(40));
    const configuration = { ...revision, source: { ...revision.source, name: OWNER.source } };
    ledger.fail(begin(), "failed", "no");
    ledger.fail(begin(), "rolled_back", "no");
    assert.equal(deployed(), false);
    ledger.succeed(begin(), {}, "done");
    assert.equal(deployed(), true);
  });

  it("knows what the owner's own releases were deployed from, and no others", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const { revision } = releaseOf(key, "a".repeat(40));
    const more = {
      configuration: { ...revision, source: { ...revision.source, name: "host/new" } },
    };
    const from = (name: string) => ({ ...revision, source: { ...revision.source, name } });
    for (const [app, conf] of [["host/app", OWNER.source], ["host/other", OTHER]] as const) {
      const more = { revision: from(app), configuration: from(conf) };
      ledger.succeed(ledger.beginDeploy(releaseOf(key, "a".repeat(40), more)), {}, "done");
    }
    ledger.owners.settle(key, OWNER);
    const sources = () => [...claimOf(ledger, key).sources()];
    assert.deepEqual(sources(), ["host/app", OWNER.source]);
    ledger.handOver(key, { source: "host/new", reference: "" });
    const named = { configurations: [OTHER], repositories: ["host/there"] };
    ledger.owners.noteCleared(key, ledger.owners.toClear(key), named);
    assert.deepEqual(sources(), ["host/there"]);
    assert.deepEqual([...claimOf(ledger, key).configurations()], [OTHER]);
    assert.equal(handedOverWith(ledger, key), undefined);
    ledger.succeed(ledger.beginDeploy(releaseOf(key, "b".repeat(40), more)), {}, "done");
    assert.deepEqual([...handedOverWith(ledger, key) ?? []], [OTHER]);
  });
});
