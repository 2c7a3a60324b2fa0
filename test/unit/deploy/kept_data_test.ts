import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { keepWritten, writtenData } from "../../../src/deploy/kept_data.ts";
import { stackDirectories } from "../../../src/deploy/stack_files.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { type Files, systemCommands, systemFiles } from "../../../src/system/mod.ts";

describe("writtenData()", () => {
  it("reads no more names of what containers wrote than it compares", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-kept-"));
    try {
      const key = stackKey("", "shop");
      const { live } = stackDirectories(dataDir, key);
      // A container may put millions of names there, which take the runtime half a minute.
      const asked: number[] = [];
      const files: Files = {
        ...systemFiles,
        list: () => Promise.reject(new Error("all names")),
        listAtMost: (path, most) => {
          asked.push(most);
          return systemFiles.listAtMost(path, most);
        },
      };
      const written = () =>
        writtenData({ files, options: { dataDir }, host: { dataDir } }, key, undefined);
      assert.deepEqual(await written(), []);
      await mkdir(join(live, "a/b"), { recursive: true });
      assert.deepEqual(await written(), []);
      await writeFile(join(live, "a/b/c"), "1");
      assert.deepEqual(await written(), [`what was written to ${live}`]);
      assert.deepEqual(asked.slice(-3), [10_000, 9999, 9998]);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe("what containers wrote", () => {
  it("may have paths too long for anything to name: it is kept, and told", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-kept-"));
    try {
      const key = stackKey("", "shop");
      const { live, current } = stackDirectories(dataDir, key);
      await mkdir(join(live, "data"), { recursive: true });
      await mkdir(current);
      // One in the other as a container makes them: no single path is too long for it.
      const name = "d".repeat(200);
      const inside = `for each in $(seq 25); do mkdir ${name} && cd -P ${name} || exit 1; done`;
      execFileSync("bash", ["-c", inside], { cwd: join(live, "data") });
      const [files, commands] = [systemFiles, systemCommands];
      const parts = { files, commands, options: { dataDir }, host: { dataDir } };
      assert.deepEqual(await writtenData(parts, key, undefined), [`what was written to ${live}`]);
      const [before, { signal }] = [{ files: {}, directories: [] }, new AbortController()];
      assert.equal(await keepWritten(parts, key, { before }, signal), true);
      assert.deepEqual([existsSync(join(live, "data", name)), existsSync(current)], [true, false]);
    } finally {
      execFileSync("rm", ["-rf", dataDir]);
    }
  });
});
