import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { LABELS, MANAGER, type ObservedStack, stackKey } from "../../../src/model/mod.ts";
import { claimOf } from "../../../src/pipeline/owner/claim.ts";
import { copyLedger, InstanceKey, Ledger, othersRelease } from "../../../src/record/mod.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");
const KEY = new InstanceKey(new Uint8Array(32).fill(7));

/** Runs `work` with the path of a ledger, and a function that opens one. */
async function inDirectory(
  work: (path: string, open: (path: string) => Ledger) => Promise<void> | void,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-extracts-"));
  const clock = createFakeClock();
  const opened: Ledger[] = [];
  const open = (path: string) => {
    const parts = { key: KEY, clock, ids: createIds(clock), redact: String };
    const ledger = new Ledger(path, parts);
    opened.push(ledger);
    return ledger;
  };
  try {
    await work(join(directory, "state.db"), open);
  } finally {
    for (const each of opened) each.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Records a release whose model has a volume `store`, which was there before it. */
function deploy(ledger: Ledger, id: string, volume: string, key = WEB): void {
  const release = releaseOf(key, id);
  const model = { ...release.model, volumes: { store: { name: volume } } };
  ledger.owners.settle(key, { source: release.revision.source.name, reference: "" });
  ledger.succeed(ledger.beginDeploy({ ...release, model }), {}, "done");
}

/** Changes a ledger by SQL, while nothing has it open. */
function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/** Words about a container that has some digest. */
function othersOf(ledger: Ledger, digest: string): string | undefined {
  const labels = { [LABELS.manager]: MANAGER, [LABELS.digest]: digest };
  const observed = {
    containers: [{ name: "web-1", service: "web", labels }],
  } as unknown as ObservedStack;
  return othersRelease(ledger, { key: WEB, observed, dataDir: "/data" });
}

const tookOver = (ledger: Ledger, volume: string) => claimOf(ledger, WEB).tookOver(volume);

/** Checks what a ledger tells of its two releases, `a` and `b`, and of none other. */
function requireTold(ledger: Ledger): void {
  assert.deepEqual(["web-a", "web-b"].map((each) => othersOf(ledger, each)), [
    undefined,
    undefined,
  ]);
  assert.match(othersOf(ledger, "web-c") ?? "", /^another Stackwright/);
  assert.deepEqual(["s-a", "s-b", "s-c"].map((each) => tookOver(ledger, each)), [
    true,
    true,
    false,
  ]);
}

describe("what is asked about all releases of a stack", () => {
  it("is answered without their contents", () =>
    inDirectory((path, open) => {
      const ledger = open(path);
      for (const id of ["a", "b"]) deploy(ledger, id, `s-${id}`);
      ledger.close();
      change(
        path,
        "UPDATE release_contents SET services = '{', live = '{', closure = '{', sealed = x'00', packed = x'00'",
      );
      requireTold(open(path));
    }));

  it("is answered for a ledger of an earlier version, whose models are opened once", () =>
    inDirectory((path, open) => {
      const ledger = open(path);
      for (const id of ["a", "b"]) deploy(ledger, id, `s-${id}`);
      const services = releaseOf(WEB, "a").services;
      ledger.close();
      const texts = ["a", "b"].map((id) =>
        `UPDATE release_contents SET services = '${JSON.stringify(releaseOf(WEB, id).services)}'
         WHERE release_id = (SELECT id FROM releases WHERE digest = 'digest-${id}');`
      );
      change(
        path,
        `${texts.join("")} DROP INDEX releases_named;
         ALTER TABLE releases DROP COLUMN digests; ALTER TABLE releases DROP COLUMN taken;
         ALTER TABLE release_contents DROP COLUMN packed; ALTER TABLE stops DROP COLUMN idle;
         ALTER TABLE owners DROP COLUMN cleared; DROP TABLE former_configurations;
         DROP TABLE stopped_by_jobs; ALTER TABLE engines DROP COLUMN hostname;
         ALTER TABLE engines DROP COLUMN since; ALTER TABLE engines DROP COLUMN said; DROP TABLE release_claims;
         DROP TABLE noted_pulls; DROP TABLE found_commits; PRAGMA user_version = 29`,
      );
      const converted = open(path);
      const first = converted.history(WEB, 9)[1] ?? assert.fail();
      assert.deepEqual(converted.services(first), services);
      assert.deepEqual(converted.open(first).services, services);
      requireTold(converted);
      converted.close();
      change(path, "UPDATE release_contents SET services = '{', sealed = x'00'");
      requireTold(open(path));
    }));

  it("is answered by what a release was replaced with", () =>
    inDirectory((path, open) => {
      const ledger = open(path);
      deploy(ledger, "a", "s-a");
      const model = { volumes: { store: { name: "s-b" } } };
      ledger.refresh(
        ledger.current(WEB) ?? assert.fail(),
        releaseOf(WEB, "b", { model }),
        ledger.mark(WEB),
      );
      assert.deepEqual(["web-a", "web-b"].map((each) => othersOf(ledger, each) === undefined), [
        false,
        true,
      ]);
      assert.deepEqual(["s-a", "s-b"].map((each) => tookOver(ledger, each)), [false, true]);
    }));

  it("counts those of all contexts, and tells nothing of others in a copy that lacks some", () =>
    inDirectory(async (path, open) => {
      const ledger = open(path);
      deploy(ledger, "b", "s-b", stackKey("far", "web"));
      deploy(ledger, "a", "s-a");
      assert.equal(othersOf(ledger, "web-b"), undefined);
      await copyLedger(systemFiles, path, `${path}.copy`);
      assert.match(othersOf(open(`${path}.copy`), "web-c") ?? "", /^another Stackwright/);
      deploy(ledger, "c", "s-c");
      await copyLedger(systemFiles, path, `${path}.again`);
      assert.equal(othersOf(open(`${path}.again`), "web-d"), undefined);
    }));
});

describe("the releases of a stack", () => {
  it("take little where many services use the same files", () =>
    inDirectory(async (path, open) => {
      const ledger = open(path);
      const [one = assert.fail()] = releaseOf(WEB, "a").services;
      const files = Array.from({ length: 50 }, (_, at) => [`file:${"p".repeat(1900)}/${at}`, "f1"]);
      const inputs = Object.fromEntries(files);
      const services = Array.from({ length: 40 }, (_, at) => ({ ...one, name: `w${at}`, inputs }));
      for (let at = 0; at < 10; at++) {
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, `a${at}`, { services })), {}, "done");
      }
      assert.deepEqual(ledger.services(ledger.current(WEB) ?? assert.fail()), services);
      ledger.close();
      assert.ok((await stat(path)).size < 2_000_000);
    }));

  it("have room for so many bytes: the oldest go, but what runs, the good one before and a pinned one", () =>
    inDirectory((path, open) => {
      const ledger = open(path);
      // Three of these are more than fit.
      const large = { files: { ["x".repeat(22 * 1024 * 1024)]: "" }, directories: [] };
      const begin = (id: string, live = large) => ledger.beginDeploy(releaseOf(WEB, id, { live }));
      const small = { files: {}, directories: [] };
      const kept = () =>
        ledger.history(WEB, 99).map(({ digest }) => digest.slice("digest-".length));
      const good = (id: string) => ledger.succeed(begin(id), {}, "done");
      const bad = (id: string, live = large) => ledger.fail(begin(id, live), "failed", "no");
      for (const id of ["a", "b"]) good(id);
      const releaseId = ledger.history(WEB, 9)[1]?.id ?? "";
      ledger.pins.set(WEB, { releaseId, revision: "x", pinnedAt: new Date(0) });
      good("c");
      assert.deepEqual(kept(), ["c", "b", "a"]);
      good("d");
      assert.deepEqual(kept(), ["d", "c", "a"]);
      ledger.pins.remove(WEB);
      for (const id of ["e", "f"]) bad(id, small);
      assert.deepEqual(kept(), ["f", "e", "d", "c"]);
      for (const id of ["g", "h", "i"]) bad(id);
      assert.deepEqual(kept(), ["i", "h", "d", "c"]);
      assert.equal(ledger.open(ledger.current(WEB) ?? assert.fail()).digest, "digest-d");
    }));
});
