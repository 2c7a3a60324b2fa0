import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sourceOfStack } from "../../../src/api/source_of_stack.ts";
import { formerOwner, ownerOfRelease, stackKey, type StackOwner } from "../../../src/model/mod.ts";
import { chooseRelease, type Ledger, notOwners, recordedOwner } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "./releases.ts";

const KEY = stackKey("", "shop");
const [MAIN, EDGE] = ["refs/heads/main", "refs/heads/edge"];
const A: StackOwner = { source: "host/a/shop", reference: MAIN };
const B: StackOwner = { source: "host/b/shop", reference: MAIN };

function revisionOf({ source, reference }: StackOwner, id: string) {
  return {
    source: { kind: "git" as const, url: `https://${source}`, name: source },
    reference,
    id,
  };
}

/** Deploys `id` in the name of an owner, from the branch that is asked for. */
function deploy(ledger: Ledger, owner: StackOwner, id: string, from = owner): void {
  ledger.owners.settle(KEY, owner);
  const intent = ledger.beginDeploy(releaseOf(KEY, id, { revision: revisionOf(from, id) }));
  ledger.succeed(intent, {}, "done");
}

/** Records that B's repository says the same as the current release, found when the ledger's mark was `since`. */
function recordEqual(ledger: Ledger, how: "moveRevision" | "refresh", since: string): void {
  const current = ledger.current(KEY) ?? assert.fail();
  const revision = revisionOf(B, "b1");
  if (how === "moveRevision") ledger.moveRevision(current, { revision }, since);
  else ledger.refresh(current, { ...ledger.open(current), revision }, since);
}

const destroy = (ledger: Ledger) => ledger.destroyed(ledger.beginDestroy(KEY, {}), "destroyed");
const chosen = (ledger: Ledger, number?: number) =>
  chooseRelease(ledger, KEY, number).wanted.number;
const formerOnes = (ledger: Ledger) =>
  ledger.history(KEY, 99).filter((each) => formerOwner(each, recordedOwner(ledger, KEY)))
    .map(({ number }) => number);

/** A ledger in which A's stack was destroyed, and the name is B's since. */
function handedOn(): Ledger {
  const ledger = createMemoryLedger(createFakeClock());
  deploy(ledger, A, "a1");
  destroy(ledger);
  deploy(ledger, B, "b1");
  return ledger;
}

describe("whose a release is", () => {
  it("keeps a rollback from releases of whom the stack does not belong to any more", () => {
    const ledger = handedOn();
    assert.throws(() => chosen(ledger), {
      code: "not_found",
      message: /has no good release of host\/b\/shop \(refs\/heads\/main\) before the current one/,
    });
    assert.throws(() => chosen(ledger, 1), {
      code: "conflict",
      message:
        /release 1 of shop is of host\/a\/shop \(.*main\).*belongs to host\/b\/shop.*stackwright adopt shop --source host\/b\/shop --reference refs\/heads\/main --releases-of host\/a\/shop$/,
    });
    deploy(ledger, B, "b2");
    assert.equal(chosen(ledger), 2);
    assert.deepEqual(formerOnes(ledger), [1]);
  });

  it("stays as it was when the stack is handed over, but for those that a person hands over", () => {
    const ledger = createMemoryLedger(createFakeClock());
    deploy(ledger, A, "a1");
    deploy(ledger, A, "a2");
    ledger.handOver(KEY, B);
    assert.throws(() => chosen(ledger), { code: "not_found" });
    deploy(ledger, B, "b1");
    assert.deepEqual(formerOnes(ledger), [2, 1]);
    assert.throws(() => ledger.handOver(KEY, B, { releasesOf: "host/c/shop" }), {
      code: "not_found",
    });
    ledger.handOver(KEY, B, { releasesOf: A.source });
    assert.deepEqual(formerOnes(ledger), []);
    assert.equal(chosen(ledger), 2);
    assert.equal(chosen(ledger, 1), 1);
  });

  it("is the stack's owner's, whichever of its branches a person deployed", () => {
    const ledger = createMemoryLedger(createFakeClock());
    deploy(ledger, A, "a1");
    deploy(ledger, A, "a2", { ...A, reference: EDGE });
    deploy(ledger, A, "a3");
    assert.equal(chosen(ledger), 2);
    ledger.handOver(KEY, { ...A, reference: EDGE });
    assert.throws(() => chosen(ledger, 1), { code: "conflict" });
  });

  it("is the new owner's once that one's repository says the same as what is deployed", () => {
    for (const how of ["moveRevision", "refresh"] as const) {
      const ledger = createMemoryLedger(createFakeClock());
      deploy(ledger, A, "a1");
      deploy(ledger, A, "a2");
      ledger.handOver(KEY, B);
      recordEqual(ledger, how, ledger.mark(KEY));
      assert.deepEqual(formerOnes(ledger), [1], how);
      const { configuration, ...now } = ledger.current(KEY) ?? assert.fail();
      assert.deepEqual([configuration ?? undefined, now.owner], [undefined, B], how);
    }
  });

  it("stays the former owner's where that one's look ends after the hand-over", () => {
    for (const how of ["moveRevision", "refresh"] as const) {
      const ledger = createMemoryLedger(createFakeClock());
      deploy(ledger, A, "a1");
      const since = ledger.mark(KEY);
      ledger.handOver(KEY, B);
      recordEqual(ledger, how, since);
      assert.deepEqual(formerOnes(ledger), [1], how);
      assert.equal(ledger.current(KEY)?.revision.source.name, A.source, how);
    }
  });

  describe("where one configuration deploys from several repositories", () => {
    const CONF: StackOwner = { source: "host/me/conf", reference: MAIN };
    /** A ledger in which releases of these repositories followed each other, discovered or written down. */
    const following = (...from: readonly (readonly [StackOwner, "found" | "written"])[]) => {
      const ledger = createMemoryLedger(createFakeClock());
      for (const [at, [source, how]] of from.entries()) {
        if (at > 0 && how === "found") destroy(ledger);
        ledger.owners.settle(KEY, CONF);
        const labels = how === "found" ? { "stackwright.auto_discovery": "true" } : {};
        const model = { services: { web: { image: "a", labels } } };
        const configuration = revisionOf(CONF, "c");
        const more = { revision: revisionOf(source, `r${at}`), configuration, model };
        ledger.succeed(ledger.beginDeploy(releaseOf(KEY, `r${at}`, more)), {}, "done");
      }
      return ledger;
    };

    it("is that of the repository in which it was discovered, as long as data may be another's", () => {
      for (const how of ["found", "written"] as const) {
        for (
          const ledger of [following([A, "found"], [B, how]), following([A, how], [B, "found"])]
        ) {
          assert.throws(() => chosen(ledger), { code: "not_found" });
          assert.throws(() => chosen(ledger, 1), {
            code: "conflict",
            message:
              /^release 1 of shop is of host\/a\/shop, and .* from host\/b\/shop now.*: it was not put back$/,
          });
        }
      }
      const back = following([A, "found"], [B, "found"], [A, "found"]);
      assert.deepEqual([chosen(back), chosen(back, 1)], [1, 1]);
      assert.throws(() => chosen(back, 2), { code: "conflict" });
    });

    it("stays the configuration's where that names another repository", () => {
      const ledger = following([A, "written"], [B, "written"]);
      assert.deepEqual([chosen(ledger), chosen(ledger, 1)], [1, 1]);
    });
  });

  it("is told by its source, where an older version recorded no owner", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const old = releaseOf(KEY, "o1", { revision: revisionOf(A, "o1") });
    ledger.succeed(ledger.beginDeploy(old), {}, "done");
    assert.equal(ledger.current(KEY)?.owner, undefined);
    deploy(ledger, A, "a1");
    assert.equal(chosen(ledger), 1);
    ledger.handOver(KEY, B);
    assert.deepEqual(formerOnes(ledger), [2, 1]);
  });

  it("leaves what a stack is synced from to its owner", () => {
    const ledger = handedOn();
    ledger.handOver(KEY, A);
    assert.equal(sourceOfStack(ledger, [], KEY).identity, A.source);
    ledger.handOver(KEY, { ...A, source: "host/c/shop" });
    assert.throws(() => sourceOfStack(ledger, [], KEY), { code: "not_found" });
    const poll = (source: string) => ({
      kind: "git" as const,
      url: `https://${source}`,
      reference: "main",
      target: "",
      deployments: [],
    });
    const polls = [poll("host/a/shop"), poll("host/c/shop")];
    assert.equal(sourceOfStack(ledger, polls, KEY), polls[1]);
    assert.throws(() => sourceOfStack(ledger, polls.slice(0, 1), KEY), { code: "not_found" });
  });
});

describe("notOwners()", () => {
  const C: StackOwner = { source: B.source, reference: EDGE };
  type Case = readonly [string, (ledger: Ledger) => void, RegExp | undefined];
  const cases: readonly Case[] = [
    ["nobody handed over", () => {}, undefined],
    ["another owner got", (ledger) => ledger.handOver(KEY, B), /^shop was handed over to host\/b/],
    ["another branch got", (ledger) => {
      ledger.handOver(KEY, B);
      deploy(ledger, B, "b1");
      ledger.handOver(KEY, C);
    }, /handed over to host\/b\/shop \(refs\/heads\/edge\)/],
    ["its new owner deployed", (ledger) => {
      ledger.handOver(KEY, B);
      deploy(ledger, B, "b1");
    }, undefined],
    [
      "went with its releases",
      (ledger) => ledger.handOver(KEY, B, { releasesOf: A.source }),
      undefined,
    ],
    ["came back to whom it was", (ledger) => {
      ledger.handOver(KEY, B);
      ledger.handOver(KEY, A);
    }, undefined],
    ["a person holds", (ledger) => {
      ledger.handOver(KEY, B);
      ledger.holds.set(KEY, { reason: "", heldAt: new Date(1) });
    }, /handed over to host\/b/],
    ["a repetition of a former owner's release runs of", (ledger) => {
      ledger.handOver(KEY, B);
      const again = ledger.current(KEY) ?? assert.fail();
      const owner = ownerOfRelease(again);
      const open = ledger.open(again);
      const intent = ledger.beginDecided(open, ledger.mark(KEY), { owner }) ?? assert.fail();
      ledger.succeed(intent, {}, "repaired");
      assert.deepEqual(formerOnes(ledger), [2, 1]);
    }, /^shop was handed over to host\/b/],
    ["another context has", (ledger) => {
      const alias = stackKey("alias", KEY.name);
      for (const context of ["default", "alias"]) {
        ledger.owners.noteEngine(context, { id: "e1", cluster: "" });
      }
      ledger.owners.adopt(alias, B, ["default"]);
    }, /handed over to host\/b/],
  ];
  for (const [title, change, expected] of cases) {
    it(`judges the release that runs of a stack that ${title}`, () => {
      const ledger = createMemoryLedger(createFakeClock());
      deploy(ledger, A, "a1");
      change(ledger);
      const why = notOwners(ledger, ledger.current(KEY) ?? assert.fail());
      if (expected === undefined) assert.equal(why, undefined);
      else assert.match(why ?? "", expected);
    });
  }
});
