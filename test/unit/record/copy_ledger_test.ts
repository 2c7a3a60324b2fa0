import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isStackwrightError, stackKey } from "../../../src/model/mod.ts";
import { copyLedger, InstanceKey, Ledger } from "../../../src/record/mod.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { releaseOf } from "./releases.ts";

const WEB = stackKey("", "web");
const key = new InstanceKey(new Uint8Array(32).fill(7));

interface Place {
  readonly directory: string;
  readonly from: string;
  readonly to: string;
  open(path: string): Ledger;
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-copy-"));
  const clock = createFakeClock();
  const opened: Ledger[] = [];
  const open = (path: string) => {
    const ledger = new Ledger(path, { key, clock, ids: createIds(clock), redact: String });
    opened.push(ledger);
    return ledger;
  };
  try {
    const [from, to] = [join(directory, "state.db"), join(directory, "copy.db")];
    await work({ directory, from, to, open });
  } finally {
    for (const ledger of opened) ledger.close();
    await rm(directory, { recursive: true, force: true });
  }
}

describe("copyLedger()", () => {
  it("copies a closed ledger and leaves no file beside it", () =>
    withPlace(async ({ directory, from, to, open }) => {
      const ledger = open(from);
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a")), {}, "first");
      ledger.close();
      const before = await readFile(from);
      await copyLedger(systemFiles, from, to);
      assert.deepEqual((await readdir(directory)).sort(), ["copy.db", "state.db"]);
      const link = join(directory, "link.db");
      await symlink("state.db", link);
      await copyLedger(systemFiles, link, to);
      assert.deepEqual(await readFile(from), before);
      assert.equal(open(to).current(WEB)?.number, 1);
    }));

  it("copies what another process has open, with what is only in its journal", () =>
    withPlace(async ({ from, to, open }) => {
      const ledger = open(from);
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a")), {}, "first");
      await copyLedger(systemFiles, from, to);
      const copy = open(to);
      assert.equal(copy.current(WEB)?.number, 1);
      assert.equal(copy.open(copy.history(WEB, 1)[0] ?? assert.fail()).digest, "digest-a");
      copy.succeed(copy.beginDeploy(releaseOf(WEB, "b")), {}, "second");
      assert.equal(ledger.history(WEB, 9).length, 1, "what happens to the copy stays there");
    }));

  it("leaves out what no plan asks for of one that is open", () =>
    withPlace(async ({ from, to, open }) => {
      const ledger = open(from);
      for (let count = 0; count < 30; count++) {
        ledger.succeed(ledger.beginDeploy(releaseOf(WEB, `a${count}`)), {}, "x");
      }
      // A repair, whose model is with the release before.
      ledger.succeed(ledger.beginDeploy(releaseOf(WEB, "a29")), {}, "again");
      ledger.beginDeploy(releaseOf(stackKey("", "wiki"), "b"));
      await copyLedger(systemFiles, from, to);
      const copy = open(to);
      const current = copy.current(WEB) ?? assert.fail();
      assert.deepEqual(copy.open(current), ledger.open(ledger.current(WEB) ?? current));
      assert.deepEqual(copy.history(WEB, 99).map(({ number }) => number).at(-1), 22);
      assert.deepEqual(copy.underWay().map(({ key: { name } }) => name), ["wiki"]);
      const [under] = copy.releasesUnderWay();
      assert.equal(copy.open(under ?? current).digest, "digest-b");
      assert.deepEqual(copy.ranBefore(WEB), []);
      const [, before] = copy.history(WEB, 9).filter(({ digest }) => digest !== "digest-a29");
      assert.throws(() => copy.open(before ?? current), /is not in/);
    }));

  it("copies what ran before a deployment that came to no end", () =>
    withPlace(async ({ from, to, open }) => {
      const ledger = open(from);
      const ranBefore = ["db"];
      const begun = ledger.beginDecided(releaseOf(WEB, "a"), ledger.mark(WEB), { ranBefore });
      ledger.fail(begun ?? assert.fail(), "failed", "handed over");
      ledger.fail(ledger.beginDestroy(WEB, {}), "failed", "refused");
      await copyLedger(systemFiles, from, to);
      const copy = open(to);
      assert.deepEqual(copy.ranBefore(WEB), ranBefore);
      assert.ok(copy.leftDestroy(WEB));
    }));

  it("does nothing when there is no ledger", () =>
    withPlace(async ({ directory, from, to }) => {
      await copyLedger(systemFiles, from, to);
      assert.deepEqual(await readdir(directory), []);
    }));

  it("says which file cannot be read", () =>
    withPlace(async ({ from, to }) => {
      await writeFile(from, "rubbish ".repeat(1000));
      await writeFile(`${from}-wal`, "rubbish");
      await assert.rejects(
        copyLedger(systemFiles, from, to),
        (error) => isStackwrightError(error, "ledger_unusable") && error.message.includes(from),
      );
    }));
});
