import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Kind } from "../../../src/deploy/mod.ts";
import { LABELS, MANAGER, stackKey } from "../../../src/model/mod.ts";
import { claimOf } from "../../../src/pipeline/owner/claim.ts";
import {
  dataVolumes,
  findAnothers,
  notYours,
  saidBy,
} from "../../../src/pipeline/owner/own_things.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

type Seen = NonNullable<Parameters<typeof saidBy>[2]>;

const KEY = stackKey("", "shop");
const MINE = { source: "host/a/shop", reference: "refs/heads/main" };
const THEM = "host/b/shop";
const by = (source: string, more = {}) => ({
  [LABELS.manager]: MANAGER,
  [LABELS.sourceName]: source,
  ...more,
});
const NAMED = { configurations: [], repositories: [] };
const thing = (name: string, labels: Record<string, string>) => ({ name, labels });

describe("findAnothers()", () => {
  const find = (
    things: Parameters<typeof findAnothers>[1],
    ledger = createMemoryLedger(createFakeClock()),
  ) => findAnothers(claimOf(ledger, KEY, { by: MINE }), things);

  it("names the first container, or volume, that is another's", () => {
    const own = thing("shop-own-1", by(MINE.source));
    const theirs = thing("shop-web-1", by(THEM));
    const data = { ...thing("shop_data", by(THEM)), kind: "volume" } as const;
    assert.equal(find({ containers: [own] }), undefined);
    assert.equal(
      find({ containers: [own, theirs], left: [data] })?.how,
      `runs from ${THEM} (container shop-web-1)`,
    );
    assert.equal(
      find({ containers: [own], left: [data] })?.how,
      `has data of ${THEM} (volume shop_data)`,
    );
    const peers = { "cd.doco.source.url": `https://u:p@${THEM}.git` };
    assert.equal(
      find({ containers: [thing("web", peers)] })?.how,
      `runs from https://${THEM}.git by doco-cd (container web)`,
    );
  });

  it("knows by the stack's own containers what its volumes were deployed from", () => {
    const left = [{ ...thing("shop_data", by("host/x/app")), kind: "volume" } as const];
    const own = by("host/x/app", { [LABELS.sourceConfiguration]: MINE.source });
    assert.notEqual(find({ containers: [], left }), undefined);
    assert.notEqual(find({ containers: [thing("old", {})], left }), undefined);
    assert.equal(find({ containers: [thing("web", own)], left }), undefined);
  });

  it("names networks, secrets and configs that are another's, which older versions gave no source", () => {
    const there = (kind: Kind, labels: Record<string, string>) =>
      find({ containers: [], left: [{ ...thing("shop_x", labels), kind }] })?.how;
    const conf = (source: string) => by(MINE.source, { [LABELS.sourceConfiguration]: source });
    assert.equal(there("network", by(THEM)), `has a network of ${THEM} (network shop_x)`);
    assert.equal(there("network", by(MINE.source)), undefined);
    for (const kind of ["secret", "config"] as const) {
      assert.equal(there(kind, conf(THEM)), `has a ${kind} of ${THEM} (${kind} shop_x)`);
      assert.equal(there(kind, conf(MINE.source)), undefined);
      assert.equal(there(kind, { [LABELS.manager]: MANAGER }), undefined);
      assert.equal(there(kind, {}), undefined);
    }
  });

  it("takes no volume for the stack's own because the current release names it", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const release = releaseOf(KEY, "a".repeat(40), {
      model: { services: {}, volumes: { data: { name: "shop_data" } } },
    });
    ledger.owners.settle(KEY, MINE);
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
    const from = (source: string) => ({
      containers: [],
      left: [{ ...thing("shop_data", by(source)), kind: "volume" } as const],
    });
    assert.equal(find(from(THEM), ledger)?.what, "volume shop_data");
    assert.equal(find(from(MINE.source), ledger), undefined);
    assert.equal(find(from(release.revision.source.name), ledger), undefined);
  });
});

describe("saidBy()", () => {
  it("tells a job whose containers are, of a stack that was handed over until its owner has deployed it", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const release = releaseOf(KEY, "a".repeat(40));
    const owner = { source: release.revision.source.name, reference: "" };
    ledger.handOver(KEY, owner);
    const said = () =>
      saidBy(ledger, KEY, { containers: [{ ...thing("shop-web-1", by(THEM)) }] } as unknown as Seen)
        .anothers?.(owner);
    assert.equal(said(), undefined);
    ledger.owners.noteCleared(KEY, ledger.owners.toClear(KEY), NAMED);
    assert.equal(said(), undefined);
    ledger.succeed(ledger.beginDeploy(release), {}, "done");
    assert.equal(said(), THEM);
  });
});

describe("dataVolumes()", () => {
  it("leaves copies of files out, which are no data", async () => {
    const copy = thing("copy", by(THEM, { [LABELS.files]: "copy" }));
    const engine = {
      listVolumes: () => Promise.resolve([copy, thing("shop_data", {})]),
    } as unknown as Parameters<typeof dataVolumes>[0];
    const found = await dataVolumes(engine, KEY, new AbortController().signal);
    assert.deepEqual(found.map(({ name }) => name), ["shop_data"]);
  });
});

describe("notYours()", () => {
  it("names a branch so that a shell takes it for one word, whatever its author called it", () => {
    for (
      const [reference, word] of [
        ["refs/heads/main", "refs/heads/main"],
        ["refs/heads/a;reboot", "'refs/heads/a;reboot'"],
        ["refs/heads/it's$(id)", "'refs/heads/it'\\''s$(id)'"],
      ] as const
    ) {
      const { code, message } = notYours(KEY, "runs", { ...MINE, reference });
      assert.equal(code, "conflict");
      assert.ok(message.endsWith(`adopt shop --source host/a/shop --reference ${word}`), message);
    }
  });
});
