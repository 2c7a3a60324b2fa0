import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import {
  type ProcessOwner,
  scratchPrefix,
  sweepScratch,
  systemClock,
  systemFiles,
} from "../../../src/system/mod.ts";

/** A process `id`; those in `alive` run. */
function owner(id: string, alive: readonly string[]): ProcessOwner {
  return { id, isAlive: (each) => alive.includes(each) };
}

async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-scratch-"));
  try {
    await test(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const system = { files: systemFiles, clock: systemClock };

describe("scratch directories", () => {
  it("sweepScratch() removes those of killed processes with their content, and no other", () =>
    withDirectory(async (directory) => {
      const make = async (id: string, purpose: "git" | "plan") => {
        const prefix = scratchPrefix(purpose, { directory, owner: owner(id, []) });
        const path = await systemFiles.makeTemporaryDirectory(prefix);
        await mkdir(join(path, "trees"));
        await writeFile(join(path, "trees/secret"), "canary");
        return basename(path);
      };
      const dead = [await make("7:70", "plan"), await make("8:80", "git")];
      const alive = [await make("9:90", "plan"), await make("1:10", "git")];
      await mkdir(join(directory, "stackwright-plan-of-somebody"));
      await symlink("/", join(directory, "stackwright-plan-1-7-70-link"));
      const place = { directory, owner: owner("1:10", ["1:10", "9:90"]) };
      assert.equal(await sweepScratch(system, place), dead.length);
      const left = await readdir(directory);
      assert.deepEqual(left.filter((each) => dead.includes(each)), []);
      assert.equal(left.length, alive.length + 2);
      assert.equal(await sweepScratch(system, place), 0);
    }));

  it("sweepScratch() leaves those of another container for a day", () =>
    withDirectory(async (directory) => {
      const path = join(directory, "stackwright-plan-1-7-70-abcdef");
      await mkdir(path);
      const place = { directory, owner: owner("1:10", []) };
      assert.equal(await sweepScratch(system, place), 0);
      const dayBefore = new Date(Date.now() - 25 * 60 * 60 * 1000);
      await utimes(path, dayBefore, dayBefore);
      assert.equal(await sweepScratch(system, place), 1);
    }));

  it("sweepScratch() is content with a directory that is not there", async () => {
    assert.equal(await sweepScratch(system, { directory: "/no/such/directory" }), 0);
  });

  it("scratchPrefix() names this process, so that nobody sweeps it while it runs", () =>
    withDirectory(async (directory) => {
      await systemFiles.makeTemporaryDirectory(scratchPrefix("plan", { directory }));
      assert.equal(await sweepScratch(system, { directory }), 0);
      assert.equal((await readdir(directory)).length, 1);
    }));
});
