import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writtenData } from "../../../src/deploy/kept_data.ts";
import { stackDirectories } from "../../../src/deploy/stack_files.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

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
