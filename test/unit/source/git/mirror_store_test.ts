import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  createMirrorStore,
  type MirrorStoreParts,
} from "../../../../src/source/git/mirror_store.ts";
import { systemFiles } from "../../../../src/system/mod.ts";

describe("the packs of mirrors", () => {
  it("are counted with their bytes, for repositories and their submodules", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const store = createMirrorStore({ dataDir, files: systemFiles } as MirrorStoreParts);
      assert.deepEqual(await store.packs(), []);
      const shop = join(dataDir, "sources/h.example/shop");
      const packs = join(shop, "mirror/objects/pack");
      await mkdir(packs, { recursive: true });
      await mkdir(join(shop, "submodules/a"), { recursive: true });
      await writeFile(join(packs, "pack-1.pack"), "12345");
      await writeFile(join(packs, "pack-2.pack"), "123");
      await writeFile(join(packs, "pack-2.idx"), "1");
      const found = (await store.packs()).map(({ repository, packs, bytes }) => [
        repository,
        packs,
        bytes,
      ]);
      assert.deepEqual(found, [["h.example/shop", 2, 8], ["h.example/shop", 0, 0]]);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});
