import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";
import { hasDeployed, ownVolumes, whyNotOwn } from "../../../src/pipeline/destroy/own_volumes.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const OWNER = { source: "git.example.com/me/conf", reference: "refs/heads/main" };
const CLAIMS = {
  owner: OWNER,
  isAdopted: false,
  isAsAdopted: false,
  sources: new Set([OWNER.source, "git.example.com/me/app"]),
  tookOver: (name: string) => name === "taken",
};
const ours = (source?: string) => ({
  [LABELS.manager]: MANAGER,
  ...(source === undefined ? {} : { [LABELS.sourceName]: source }),
});
const peers = (url: string) => ({ "cd.doco.source.url": url });
const OTHER = "git.example.com/them/app";

describe("whyNotOwn()", () => {
  const rows: readonly [string, object, Record<string, string>, string, string | undefined][] = [
    ["made from the deployed repository", {}, ours("git.example.com/me/app"), "a", undefined],
    ["made by a version that noted no source", {}, ours(), "a", undefined],
    ["made from another repository", {}, ours(OTHER), "a", `it was made for ${OTHER}`],
    ["of before a hand-over", { isAdopted: true }, ours(OTHER), "a", undefined],
    [
      "of doco-cd from the owner's repository",
      {},
      peers("https://git.example.com/me/conf.git"),
      "a",
      undefined,
    ],
    [
      "of doco-cd from a repository that is only deployed",
      {},
      peers("https://x:y@git.example.com/me/app.git"),
      "a",
      "it was made for https://git.example.com/me/app.git",
    ],
    [
      "of doco-cd from elsewhere, in the place of one that was taken over",
      {},
      peers(`https://${OTHER}`),
      "taken",
      `it was made for https://${OTHER}`,
    ],
    ["of doco-cd, taken over by hand", { isAdopted: true }, peers(OTHER), "taken", undefined],
    ["that was taken over", {}, {}, "taken", undefined],
    [
      "of a stack that was just handed over",
      { isAdopted: true, isAsAdopted: true },
      {},
      "a",
      undefined,
    ],
    [
      "without labels",
      { isAdopted: true },
      {},
      "a",
      "another manager made it: Stackwright neither did, nor took it over",
    ],
    ["of nobody's stack", { owner: undefined }, {}, "taken", undefined],
  ];
  for (const [title, more, labels, name, expected] of rows) {
    it(`${expected === undefined ? "takes" : "leaves"} one ${title}`, () =>
      assert.equal(whyNotOwn({ name, labels }, { ...CLAIMS, ...more }), expected));
  }
});

describe("ownVolumes()", () => {
  const key = stackKey("", "shop");
  /** A ledger with a release whose model has a volume. */
  function ledgerWith(volume: object) {
    const ledger = createMemoryLedger(createFakeClock());
    const release = releaseOf(key, "a".repeat(40));
    ledger.owners.settle(key, { source: release.revision.source.name, reference: "" });
    ledger.beginDeploy({ ...release, model: { ...release.model, volumes: { store: volume } } });
    return ledger;
  }
  const whyNot = (volume: object, name: string) =>
    ownVolumes(ledgerWith(volume), key).whyNot({ name, labels: {} });

  it("finds what a release mounted that was there before the stack, also by a template", () => {
    assert.equal(whyNot({ name: "shop_store" }, "shop_store"), undefined);
    assert.equal(whyNot({ name: "s-{{.Task.Slot}}", labels: ours("x") }, "s-1"), undefined);
    assert.match(whyNot({ name: "shop_store" }, "shop_other") ?? "", /another manager/);
    assert.match(whyNot({ name: "shop_store", labels: ours("x") }, "shop_store") ?? "", /another/);
    assert.match(whyNot({ name: "shop_store", external: true }, "shop_store") ?? "", /another/);
  });

  it("knows the source by containers where nothing is recorded", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const volume = { name: "shop_store", labels: ours(OTHER) };
    assert.notEqual(ownVolumes(ledger, key, { by: OWNER }).whyNot(volume), undefined);
    const seen = [{ labels: ours(OTHER) }];
    assert.equal(ownVolumes(ledger, key, { by: OWNER, seen }).whyNot(volume), undefined);
  });

  it("leaves what cannot be told because a release cannot be opened any more", () => {
    const ledger = ledgerWith({ name: "shop_store" });
    const closed = {
      owners: ledger.owners,
      current: ledger.current,
      history: ledger.history,
      open: () => {
        throw new Error("another key");
      },
    };
    const volume = { name: "shop_store", labels: {} };
    assert.match(ownVolumes(closed, key).whyNot(volume) ?? "", /another manager/);
  });
});

describe("hasDeployed()", () => {
  it("counts no release that failed, or that was taken back for what ran before it", () => {
    const of = (...statuses: ("deployed" | "failed" | "rolled_back")[]) =>
      hasDeployed(statuses.map((status) => ({ status })));
    assert.equal(of(), false);
    assert.equal(of("failed", "rolled_back"), false);
    assert.equal(of("failed", "deployed"), true);
  });
});
