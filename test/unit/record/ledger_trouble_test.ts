import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { type ErrorCode, isStackwrightError, stackKey } from "../../../src/model/mod.ts";
import { copyLedger, InstanceKey, Ledger } from "../../../src/record/mod.ts";
import type { OpeningOptions } from "../../../src/record/ledger_database.ts";
import { migrate } from "../../../src/record/migrate_ledger.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");

function openLedger(path: string, more: OpeningOptions = {}): Ledger {
  const clock = createFakeClock();
  const key = new InstanceKey(new Uint8Array(32).fill(7));
  return new Ledger(path, { key, clock, ids: createIds(clock), redact: String, ...more });
}

/** Whether an error has the code and names the ledger. */
const says = (code: ErrorCode, ...parts: string[]) => (error: unknown) => {
  assert.ok(isStackwrightError(error, code), String(error));
  for (const part of parts) assert.ok(error.message.includes(part), error.message);
  return true;
};

async function inDirectory(work: (directory: string) => unknown): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-ledger-"));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe("Ledger in trouble", () => {
  it("is brought to its schema by all steps or by none", () =>
    inDirectory((directory) => {
      const path = join(directory, "state.db");
      const before = new DatabaseSync(path);
      // One that a later step makes: the ones before it are taken back.
      before.exec("CREATE TABLE holds (x TEXT); INSERT INTO holds VALUES ('y')");
      assert.throws(() => openLedger(path), says("data_dir_unusable", path));
      const names = before.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      assert.deepEqual(names.map((each) => each["name"]), ["holds"]);
      before.exec("DROP TABLE holds");
      before.close();
      openLedger(path).close();
    }));

  it("is read where it cannot be written, beside a service and alone, and nothing is made beside it", () =>
    inDirectory(async (directory) => {
      // Characters that mean something in an address.
      const path = join(directory, "state ?#%41.db");
      const service = openLedger(path);
      const release = service.beginDeploy(releaseOf(WEB, "a1"));
      service.succeed(release, {}, "done");
      for (const isAlone of [false, true]) {
        if (isAlone) service.close();
        const before = await readdir(directory);
        const ledger = openLedger(path, { onlyReads: true });
        assert.deepEqual(ledger.history(WEB, 9).map(({ status }) => status), ["deployed"]);
        assert.throws(
          () => ledger.beginDeploy(releaseOf(WEB, "b2")),
          says("data_dir_unusable", path),
        );
        ledger.close();
        assert.deepEqual(await readdir(directory), before);
      }
      const old = new DatabaseSync(path);
      old.exec("PRAGMA user_version = 1");
      old.close();
      assert.throws(
        () => openLedger(path, { onlyReads: true }),
        says("data_dir_unusable", path, "earlier version"),
      );
    }));

  it("that was written before releases had their contents apart has all it had", () =>
    inDirectory(async (directory) => {
      const path = join(directory, "state.db");
      const before = new DatabaseSync(path);
      before.exec(await readFile(new URL("ledger_17.sql", import.meta.url), "utf8"));
      before.close();
      const ledger = openLedger(path);
      try {
        const told = ledger.history(WEB, 9).map(({ number, status }) => `${number} ${status}`);
        assert.deepEqual(told, ["3 rolled_back", "2 deployed", "1 deployed"]);
        for (const each of ledger.history(WEB, 9)) {
          const { url } = each.revision.source;
          const made = releaseOf(WEB, each.revision.id);
          const { inactive: _, unused: __, revision: { source, ...revision }, ...wanted } = made;
          assert.deepEqual(ledger.open(each), {
            ...wanted,
            revision: { ...revision, source: { ...source, url } },
          });
          assert.equal("services" in each || "closure" in each || "live" in each, false);
        }
        assert.deepEqual(ledger.current(WEB)?.images, { web: "sha256:a1" });
        assert.deepEqual(ledger.pins.get(WEB)?.refused?.closure, releaseOf(WEB, "b2").closure);
        const [decision] = ledger.decisions.of(WEB, 1);
        assert.deepEqual(decision?.changes, [{ input: "compose.yaml", from: "1", to: "2" }]);
        assert.deepEqual(decision?.services.map(({ name }) => name), ["web"]);
        assert.equal(decision?.outcome?.status, "succeeded");
        assert.deepEqual(ledger.underWay().map(({ key: { name } }) => name), ["wiki"]);
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "d4")), {}, "x");
        assert.equal(ledger.current(WEB)?.number, 4);
      } finally {
        ledger.close();
      }
    }));

  it("that an earlier version wrote has the tables, columns and indexes of a new one", async () => {
    const schemaOf = (database: DatabaseSync) => {
      migrate(database, "");
      const columns = `SELECT t.name, t.strict, t.wr, c.name AS column, c.type, c."notnull", c.pk
        FROM pragma_table_list t JOIN pragma_table_info(t.name) c ORDER BY t.name, c.name`;
      const indexes =
        `SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY 1`;
      const keys =
        `SELECT t.name, k.* FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) k
        ORDER BY t.name, k."from", k."table"`;
      return [columns, indexes, keys].map((sql) =>
        database.prepare(sql).all().map((row) => ({ ...row }))
      );
    };
    using old = new DatabaseSync(":memory:");
    old.exec(await readFile(new URL("ledger_17.sql", import.meta.url), "utf8"));
    using made = new DatabaseSync(":memory:");
    assert.deepEqual(schemaOf(old), schemaOf(made));
  });

  it("that was written before deferred deployments were kept by repository has them all", () =>
    inDirectory(async (directory) => {
      const path = join(directory, "state.db");
      const before = new DatabaseSync(path);
      before.exec(await readFile(new URL("ledger_17.sql", import.meta.url), "utf8"));
      before.exec(
        "INSERT INTO deferred VALUES ('default', 'web', 'poll', x'00', 5), ('default', 'x', 'a', x'', 4)",
      );
      before.close();
      const ledger = openLedger(path);
      try {
        assert.deepEqual(ledger.deferred.get(WEB), { retryAt: new Date(5) });
        assert.deepEqual(ledger.deferred.next(), new Date(4));
        ledger.deferred.remove(WEB, ({ source, reference }) => source === "" && reference === "");
        assert.equal(ledger.deferred.get(WEB), undefined);
      } finally {
        ledger.close();
      }
    }));

  it("says that it is damaged where a column holds no JSON, and does not repeat it", () =>
    inDirectory((directory) => {
      const path = join(directory, "state.db");
      const ledger = openLedger(path);
      try {
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a1")), {}, "x");
        const other = new DatabaseSync(path);
        other.exec("UPDATE releases SET facts = 'hidden {'");
        other.close();
        const isDamaged = says("ledger_unusable", "damaged (the column facts", "from a backup");
        for (const work of [() => ledger.current(WEB), () => ledger.history(WEB, 1)]) {
          assert.throws(work, (error) => isDamaged(error) && !/hidden/.test(String(error)));
        }
      } finally {
        ledger.close();
      }
    }));

  it("is made by one of two processes that open a new one at once", () =>
    inDirectory((directory) => {
      const path = join(directory, "state.db");
      const waiting = new DatabaseSync(path);
      let waited = false;
      const late = {
        prepare: (sql: string) => waiting.prepare(sql),
        exec(sql: string) {
          // The other one is through before this one has its turn.
          if (sql.startsWith("BEGIN IMMEDIATE")) openLedger(path).close();
          waited ||= sql.startsWith("BEGIN IMMEDIATE");
          waiting.exec(sql);
        },
        get isTransaction() {
          return waiting.isTransaction;
        },
      };
      migrate(late as unknown as DatabaseSync, path);
      assert.ok(waited);
      waiting.close();
      openLedger(path).close();
    }));

  it("a ledger of a newer version is refused and not touched", async () => {
    await inDirectory((directory) => {
      const path = join(directory, "state.db");
      openLedger(path).close();
      const database = new DatabaseSync(path);
      database.exec("PRAGMA user_version = 4711; CREATE TABLE later (x TEXT);");
      database.close();
      assert.throws(() => openLedger(path), says("ledger_unusable", path, "schema 4711", "newer"));
      const after = new DatabaseSync(path);
      assert.deepEqual({ ...after.prepare("PRAGMA user_version").get() }, { user_version: 4711 });
      assert.equal(after.prepare("SELECT count(*) AS n FROM later").get()?.["n"], 0);
      after.close();
    });
  });

  it("a ledger that a newer version takes over while it is open says what is to be done", async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, "state.db");
      const ledger = openLedger(path);
      const newer = new DatabaseSync(path);
      try {
        newer.exec(
          "ALTER TABLE stops RENAME COLUMN stopped_at TO since; PRAGMA user_version = 4711",
        );
        const isNewer = says("ledger_unusable", path, "Restart the service", "newer version");
        assert.throws(() => ledger.stops.set(WEB, new Date(0)), isNewer);
        const copied = copyLedger(systemFiles, path, join(directory, "copy.db"));
        await assert.rejects(copied, isNewer);
      } finally {
        newer.close();
        ledger.close();
      }
    });
  });

  for (const text of ["this is no database, but it is long enough to have a header\n", "x"]) {
    it(`a file that is no database (${text.length} characters) is refused and kept`, async () => {
      await inDirectory(async (directory) => {
        const path = join(directory, "state.db");
        await writeFile(path, text.repeat(50));
        assert.throws(() => openLedger(path), says("ledger_unusable", path, "backup"));
        assert.equal((await stat(path)).size, text.length * 50);
      });
    });
  }

  it("damage inside the database is reported as such, whichever call meets it", async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, "state.db");
      openLedger(path).close();
      const { size: empty } = await stat(path);
      const ledger = openLedger(path);
      for (let count = 0; count < 40; count++) {
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, `a${count}`)), {}, "x");
      }
      ledger.close();
      const { size } = await stat(path);
      const file = await open(path, "r+");
      // What an empty one has is the schema; everything that came later becomes rubbish.
      await file.write(new Uint8Array(size - empty).fill(0xa5), 0, size - empty, empty);
      await file.close();
      const damaged = openLedger(path);
      try {
        const isDamage = says("ledger_unusable", path, "damaged");
        assert.throws(() => damaged.history(WEB, 99), isDamage);
        assert.throws(() => damaged.current(WEB), isDamage);
        assert.throws(() => damaged.beginDeploy(releaseOf(WEB, "b2")), isDamage);
      } finally {
        damaged.close();
      }
    });
  });

  for (const gone of [["state.db"], ["state.db", "state.db-wal", "state.db-shm"]]) {
    it(`${gone.join(", ")} deleted while it is open is written anew, with all it held`, async () => {
      await inDirectory(async (directory) => {
        const path = join(directory, "state.db");
        let told = 0;
        const ledger = openLedger(path, { onRewritten: () => void told++ });
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a1")), {}, "first");
        for (const name of gone) await rm(join(directory, name));
        const intent = ledger.beginDeploy(releaseOf(WEB, "b2"));
        ledger.succeed(intent, {}, "second");
        assert.equal(told, 1);
        ledger.close();
        const again = openLedger(path);
        try {
          assert.deepEqual(again.history(WEB, 9).map((each) => each.message), ["second", "first"]);
          assert.equal(again.current(WEB)?.revision.id, "b2");
        } finally {
          again.close();
        }
        const left = (await readdir(directory)).filter((name) => !name.startsWith("state.db-"));
        assert.deepEqual(left, ["state.db"]);
      });
    });
  }

  it("replaced while it is open is written to no more, until it is opened anew", async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, "state.db");
      const ledger = openLedger(path);
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a1")), {}, "first");
      const restored = join(directory, "restored.db");
      openLedger(restored).close();
      await rename(restored, path);
      const isReplaced = says("data_dir_unusable", path, "was replaced", "nothing was", "restart");
      for (let count = 0; count < 2; count++) {
        assert.throws(() => ledger.beginDeploy(releaseOf(WEB, "b2")), isReplaced);
        assert.throws(() => ledger.checkWritable(), isReplaced);
      }
      assert.deepEqual(ledger.history(WEB, 9).map((each) => each.message), ["first"]);
      ledger.close();
    });
  });

  it("that another process holds says so, and goes on when it is let go", async () => {
    await inDirectory((directory) => {
      const path = join(directory, "state.db");
      const ledger = openLedger(path);
      const other = new DatabaseSync(path);
      try {
        other.exec("BEGIN IMMEDIATE");
        const isHeld = says("data_dir_unusable", path, "held by another process", "nothing was");
        assert.throws(() => ledger.beginDeploy(releaseOf(WEB, "a")), isHeld);
        assert.deepEqual(ledger.history(WEB, 9), []);
        // Everything else stands still while it is waited for: once is enough.
        const began = performance.now();
        for (let count = 0; count < 5; count++) {
          assert.throws(() => ledger.beginDeploy(releaseOf(WEB, "a")), isHeld);
        }
        assert.ok(performance.now() - began < 10_000);
        other.exec("ROLLBACK");
        ledger.beginDeploy(releaseOf(WEB, "a"));
        assert.equal(ledger.history(WEB, 9).length, 1);
      } finally {
        other.close();
        ledger.close();
      }
    });
  });

  it("a path that cannot be a database is the data directory's fault", async () => {
    await inDirectory((directory) => {
      assert.throws(() => openLedger(directory), says("data_dir_unusable", directory));
      const path = join(directory, "no", "state.db");
      assert.throws(() => openLedger(path), says("data_dir_unusable", path));
    });
  });

  it("a transaction that fails leaves nothing of itself", async () => {
    await inDirectory((directory) => {
      const ledger = openLedger(join(directory, "state.db"));
      try {
        const release = releaseOf(WEB, "a1", {
          model: {
            get broken() {
              throw new Error("no model");
            },
          },
        });
        assert.throws(() => ledger.beginDeploy(release));
        assert.deepEqual(ledger.history(WEB, 9), []);
        ledger.beginDeploy(releaseOf(WEB, "b2"));
        assert.equal(ledger.history(WEB, 9)[0]?.number, 1);
      } finally {
        ledger.close();
      }
    });
  });
});

const mounting = mountProblem();
if (mounting !== undefined) {
  process.stderr.write(`SKIPPED: the ledger on a full and on a read-only disk: ${mounting}\n`);
}

describe("Ledger on a small disk", { skip: mounting !== undefined }, () => {
  it("a full disk is the data directory's fault; what was recorded stays, and so does what comes later", async () => {
    await onSmallDisk(async (directory) => {
      const path = join(directory, "state.db");
      const ledger = openLedger(path);
      try {
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a1")), {}, "x");
        const before = ledger.current(WEB);
        await writeFile(join(directory, "filler"), new Uint8Array(2 << 20)).catch(() => {});
        const model = { big: "x".repeat(1 << 20) };
        const isFull = says("data_dir_unusable", path, "free space");
        for (let attempt = 0; attempt < 3; attempt++) {
          assert.throws(() => ledger.beginDeploy(releaseOf(WEB, "b2", { model })), isFull);
        }
        assert.deepEqual(ledger.current(WEB), before);
        assert.deepEqual(ledger.underWay(), []);
        const reader = openLedger(path, { onlyReads: true });
        assert.deepEqual(reader.current(WEB), before);
        reader.close();
        await rm(join(directory, "filler"));
        ledger.checkWritable();
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "c3")), {}, "x");
        assert.deepEqual(ledger.history(WEB, 9).map(({ number }) => number), [2, 1]);
      } finally {
        ledger.close();
      }
    });
  });

  it("a full disk keeps a new ledger from being made", async () => {
    await onSmallDisk(async (directory) => {
      await writeFile(join(directory, "filler"), new Uint8Array(2 << 20)).catch(() => {});
      const path = join(directory, "state.db");
      assert.throws(() => openLedger(path), says("data_dir_unusable", path, "free space"));
    });
  });

  it("a read-only disk is the data directory's fault, at the latest in checkWritable()", async () => {
    await onSmallDisk((directory) => {
      const path = join(directory, "state.db");
      const before = openLedger(path);
      before.beginDeploy(releaseOf(WEB, "a1"));
      before.close();
      execFileSync("mount", ["-o", "remount,ro", directory]);
      const reader = openLedger(path, { onlyReads: true });
      assert.equal(reader.history(WEB, 9).length, 1);
      reader.close();
      let ledger: Ledger | undefined;
      try {
        assert.throws(() => {
          ledger = openLedger(path);
          ledger.checkWritable();
        }, says("data_dir_unusable", path, "must be writable"));
      } finally {
        ledger?.close();
      }
    });
  });
});

/** Runs `work` in a directory with one megabyte of room. */
async function onSmallDisk(work: (directory: string) => unknown): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-small-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory]);
  try {
    await work(directory);
  } finally {
    execFileSync("umount", ["-l", directory]);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Why no file system can be mounted here; `undefined` when one can. */
function mountProblem(): string | undefined {
  if (process.getuid?.() !== 0) return "mounting a tmpfs needs root";
  const directory = mkdtempSync(join(tmpdir(), "swt-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], { stdio: "pipe" });
    execFileSync("umount", [directory]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
