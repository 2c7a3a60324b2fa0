import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createKeyedLock } from "../../../../src/system/mod.ts";
import { createLayout } from "../../../../src/source/trees/layout.ts";
import { createTreeStore, type TreeStore } from "../../../../src/source/trees/tree_store.ts";
import { type Files, systemFiles } from "../../../../src/system/mod.ts";

const never = new AbortController().signal;
const OLD = new Date("2020-01-01T00:00:00Z");
const LIMIT = new Date("2021-01-01T00:00:00Z");

/** Runs `work` with a store in a directory of its own. */
async function withStore(
  work: (store: TreeStore, dataDir: string) => Promise<void>,
  files: Files = systemFiles,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "swt-trees-"));
  const pathOf = createLayout(dataDir).tree;
  try {
    await work(createTreeStore({ files, dataDir, pathOf, lock: createKeyedLock() }), dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Makes an old tree with a file. */
async function makeTree(dataDir: string, source: string, name: string): Promise<string> {
  const path = join(dataDir, "sources", source, "trees", name);
  await mkdir(path, { recursive: true });
  await mkdir(join(dataDir, "sources", source, "mirror"), { recursive: true });
  await writeFile(join(path, "file"), name);
  await utimes(path, OLD, OLD);
  return path;
}

describe("TreeStore", () => {
  it("lists the trees of all sources, and nothing that is being made or removed", () =>
    withStore(async (store, dataDir) => {
      assert.deepEqual(await store.list(), []);
      const one = await makeTree(dataDir, "host/shop", "1");
      const two = await makeTree(dataDir, "host/group/deep/shop", "2");
      const inside = await makeTree(dataDir, "host/shop/below", "3");
      await makeTree(dataDir, "host/shop", ".tmp-3");
      const found = await store.list();
      assert.deepEqual(found.map((each) => each.path).sort(), [two, one, inside].sort());
      assert.deepEqual(found.map((each) => each.usedAt), [OLD, OLD, OLD]);
    }));

  it("remove() takes a tree away as a whole, and another time does nothing", () =>
    withStore(async (store, dataDir) => {
      const tree = await makeTree(dataDir, "host/shop", "1");
      const other = await makeTree(dataDir, "host/shop", "2");
      assert.equal(await store.remove(tree, LIMIT, never), true);
      assert.equal(await store.remove(tree, LIMIT, never), true);
      assert.deepEqual(await readdir(join(tree, "..")), ["2"]);
      assert.deepEqual(await readdir(other), ["file"]);
    }));

  it("remove() leaves a tree that was asked for in the meantime", () =>
    withStore(async (store, dataDir) => {
      const tree = await makeTree(dataDir, "host/shop", "1");
      await systemFiles.touch(tree);
      assert.equal(await store.remove(tree, LIMIT, never), false);
      assert.deepEqual(await readdir(tree), ["file"]);
    }));

  it("remove() puts a tree back that another process asked for at that very moment", () => {
    const files: Files = {
      ...systemFiles,
      async rename(from, to) {
        if (!from.includes(".tmp-")) await systemFiles.touch(from);
        await systemFiles.rename(from, to);
      },
    };
    return withStore(async (store, dataDir) => {
      const tree = await makeTree(dataDir, "host/shop", "1");
      assert.equal(await store.remove(tree, LIMIT, never), false);
      assert.deepEqual(await readdir(join(tree, "..")), ["1"]);
      assert.deepEqual(await readdir(tree), ["file"]);
    }, files);
  });

  it("remove() says that the disk refuses", () => {
    const rename = () => Promise.reject(Object.assign(new Error("read-only"), { code: "EROFS" }));
    return withStore(async (store, dataDir) => {
      const tree = await makeTree(dataDir, "host/shop", "1");
      await assert.rejects(store.remove(tree, LIMIT, never), { code: "data_dir_unusable" });
    }, { ...systemFiles, rename });
  });
});
