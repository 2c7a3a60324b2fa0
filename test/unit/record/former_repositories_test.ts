import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { stackKey } from "../../../src/model/mod.ts";
import { migrate } from "../../../src/record/migrate_ledger.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const KEY = stackKey("", "shop");
const OWNER = { source: "h/conf", reference: "refs/heads/main" };
const named = (...repositories: string[]) => ({
  configurations: repositories.map((each) => `of ${each}`),
  repositories,
});
const from = (repository: string, isFound = false) => ({ repository, isFound });

describe("repositories that a stack was deployed from", () => {
  /** A ledger with a stack that was deployed from some repositories, one after another. */
  const deployed = (...repositories: readonly string[]) => {
    const ledger = createMemoryLedger(createFakeClock());
    for (const each of repositories) ledger.owners.settle(KEY, OWNER, from(each));
    return ledger;
  };

  it("are kept with the owner, the last one first", () => {
    const { owners } = deployed("a", "b", "c", "a");
    assert.deepEqual(owners.repositories(KEY), ["a", "c", "b"]);
    assert.deepEqual(owners.repositories(stackKey("", "other")), []);
  });

  it("are no more than fifty, with the latest", () => {
    const all = Array.from({ length: 70 }, (_, at) => `r${at}`);
    const kept = deployed(...all).owners.repositories(KEY);
    assert.equal(kept.length, 51);
    assert.deepEqual(kept.slice(0, 2), ["r69", "r68"]);
  });

  it("stay when the branch is learned, and when a person hands the stack over", () => {
    const ledger = createMemoryLedger(createFakeClock());
    const { owners } = ledger;
    for (const each of ["a", "b"]) owners.settle(KEY, { ...OWNER, reference: "" }, from(each));
    owners.settle(KEY, OWNER, from("b", true));
    assert.equal(owners.get(KEY)?.reference, OWNER.reference);
    ledger.handOver(KEY, { source: "h/other", reference: "" });
    assert.deepEqual(owners.repositories(KEY), ["b", "a"]);
    assert.equal(owners.isFound(KEY), true);
  });

  it("are also what labels name when a hand-over is cleared, each of which is to be cleared once", () => {
    const ledger = deployed("a");
    const { owners } = ledger;
    const cleared = () => [owners.toClear(KEY), owners.uncleared()];
    assert.deepEqual(cleared(), [0, []]);
    for (const number of [1, 2]) {
      ledger.handOver(KEY, { source: `h/other${number}`, reference: "" });
      assert.deepEqual(cleared(), [number, [KEY]]);
    }
    owners.noteCleared(KEY, 1, named("l"));
    assert.deepEqual(cleared(), [2, [KEY]]);
    owners.noteCleared(KEY, 2, named("m", "a"));
    assert.deepEqual(cleared(), [0, []]);
    assert.deepEqual(owners.repositories(KEY), ["a", "m", "l"]);
    assert.deepEqual(owners.configurations(KEY), ["of a", "of m", "of l"]);
    assert.equal(owners.lastRepository(KEY), "a");
    ledger.destroyed(ledger.beginDestroy(KEY, {}), "done");
    owners.noteCleared(KEY, 2, named("n"));
    owners.settle(KEY, OWNER);
    assert.deepEqual([owners.repositories(KEY), owners.configurations(KEY)], [[], []]);
    assert.equal(owners.lastRepository(KEY), undefined);
  });

  it("are none of what another one deploys, whose stack it is not", () => {
    const { owners } = deployed("a");
    owners.settle(KEY, { ...OWNER, source: "h/other" }, from("b", true));
    assert.deepEqual(owners.repositories(KEY), ["a"]);
    assert.equal(owners.isFound(KEY), false);
  });

  it("are forgotten with the owner", () => {
    const ledger = deployed("a", "b");
    ledger.destroyed(ledger.beginDestroy(KEY, {}), "done", { keepsOwner: true });
    assert.deepEqual(ledger.owners.repositories(KEY), ["b", "a"]);
    ledger.destroyed(ledger.beginDestroy(KEY, {}), "done");
    ledger.owners.settle(KEY, OWNER);
    assert.deepEqual(ledger.owners.repositories(KEY), []);
    assert.equal(ledger.owners.isFound(KEY), undefined);
  });

  it("are taken from an earlier version's releases, those of the same owner", () => {
    const database = new DatabaseSync(":memory:");
    migrate(database, "");
    database.exec(
      `DROP TABLE former_repositories; DROP TABLE former_configurations;
       ALTER TABLE owners DROP COLUMN found; PRAGMA user_version = 28;`,
    );
    const stack = (name: string, repository: string, current: string | null) => {
      database.prepare(
        `INSERT INTO owners (context, name, source, reference, adopted, repository)
         VALUES ('', ?, 'conf', 'main', 0, ?)`,
      ).run(name, repository);
      if (current !== null) {
        database.prepare("INSERT INTO stacks VALUES ('', ?, ?)").run(name, current);
      }
    };
    const release = (name: string, number: number, source: string, owner?: object) => {
      const facts = {
        revision: { source: { name: source } },
        configuration: { source: { name: "conf" } },
      };
      database.prepare(
        `INSERT INTO releases (id, context, name, number, digest, revision, status, created_at, facts)
         VALUES (?, '', ?, ?, '', '', '', 0, ?)`,
      ).run(
        `${name}${number}`,
        name,
        number,
        JSON.stringify({ ...facts, ...(owner && { owner }) }),
      );
    };
    const found = (name: string, repository: string, policy?: object) =>
      database.prepare("INSERT INTO discovered VALUES ('', ?, 'conf', '', '', ?)")
        .run(name, JSON.stringify({ repository, policy }));
    release("moved", 1, "a");
    release("moved", 2, "x", { source: "conf", reference: "dev" });
    release("moved", 3, "y", { source: "other", reference: "" });
    release("moved", 4, "b", { source: "conf", reference: "main" });
    stack("moved", "old", "moved4");
    stack("gone", "z", null);
    stack("found", "", null);
    found("found", "r", {});
    stack("own", "", null);
    found("own", "conf", {});
    migrate(database, "");
    const rows = database.prepare("SELECT name, repository, found FROM owners ORDER BY name").all();
    assert.deepEqual(rows.map((row) => Object.values(row)), [
      ["found", "", 1],
      ["gone", "z", null],
      ["moved", "b", 0],
      ["own", "", 0],
    ]);
    const former = database.prepare(
      "SELECT repository FROM former_repositories WHERE name = 'moved' ORDER BY 1",
    ).all();
    assert.deepEqual(former.map((row) => row["repository"]), ["a", "b", "old"]);
    database.close();
  });
});
