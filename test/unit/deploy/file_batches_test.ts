import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { batches } from "../../../src/deploy/file_batches.ts";
import { systemFiles } from "../../../src/system/mod.ts";

it("batches() sends no more than so many files at once, though they are empty", async () => {
  const root = await mkdtemp(join(tmpdir(), "swt-batches-"));
  try {
    await mkdir(join(root, "site"));
    for (let index = 0; index < 2500; index++) await writeFile(join(root, `site/${index}`), "");
    const counts: number[] = [];
    for await (const batch of batches(systemFiles, join(root, "site"))) counts.push(batch.length);
    assert.deepEqual(counts, [2048, 452]);
  } finally {
    await rm(root, { recursive: true });
  }
});
