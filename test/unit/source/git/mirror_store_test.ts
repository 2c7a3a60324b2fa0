import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import {
  createMirrorStore,
  type MirrorStoreParts,
} from "../../../../src/source/git/mirror_store.ts";
import { createKeyedLock, systemFiles } from "../../../../src/system/mod.ts";

/** The names of two mirrors. */
const [ONE, OTHER] = ["1", "2"].map((digit) => digit.repeat(64)) as [string, string];

describe("the packs of mirrors", () => {
  it("are counted with their bytes, for repositories and their submodules", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const store = createMirrorStore({ dataDir, files: systemFiles } as MirrorStoreParts);
      assert.deepEqual(await store.packs(), []);
      const shop = join(dataDir, "sources/h.example/shop");
      const packs = join(shop, "mirror", ONE, "objects/pack");
      await mkdir(packs, { recursive: true });
      await mkdir(join(shop, "submodules", ONE), { recursive: true });
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

describe("the mirrors below a data directory", () => {
  it("are those of repositories with a dot in front, too, and none that is being made", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const store = createMirrorStore({ dataDir, files: systemFiles } as MirrorStoreParts);
      const names = ["h.example/o/.github", "h.example/o/.tmp-1", "local/srv/shop/.git"];
      for (const name of names) {
        for (const each of [ONE, ".tmp-mirror-a1"]) {
          await mkdir(join(dataDir, "sources", name, "mirror", each), { recursive: true });
        }
      }
      const found = (await store.list()).map((
        { repository, path },
      ) => [repository, basename(path)]);
      assert.deepEqual(found, names.map((name) => [name, ONE]));
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

describe("mirrors that nobody needs", () => {
  const never = new AbortController().signal;
  const hour = 3_600_000;

  it("stay when they are asked for, or gone, before their turn comes", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const now = Date.now();
      const old = new Date(now - 5 * hour);
      const mirror = (name: string) => join(dataDir, "sources/h.example", name, "mirror", ONE);
      for (let at = 0; at < 53; at++) {
        await mkdir(mirror(`${at}`), { recursive: true });
        await utimes(mirror(`${at}`), at < 50 ? new Date(now) : old, at < 50 ? new Date(now) : old);
      }
      // Somebody else has the lock first, and uses one mirror and removes another.
      const lock = {
        async run<T>(path: string, work: () => Promise<T>) {
          if (path === mirror("50")) await utimes(path, new Date(now), new Date(now));
          if (path === mirror("51")) await rm(path, { recursive: true });
          return await work();
        },
      };
      const parts = { dataDir, files: systemFiles, lock };
      const store = createMirrorStore(parts as unknown as MirrorStoreParts);
      const use = { needed: new Set<string>(), usedBefore: new Date(now - hour) };
      assert.equal(await store.removeUnused(use, never), 1);
      const left = (await store.list()).map(({ path }) => path);
      assert.equal(left.length, 51);
      assert.ok(left.includes(mirror("50")));
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it("are removed but for the fifty that were asked for last, with what is empty beside them", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const parts = { dataDir, files: systemFiles, lock: createKeyedLock() };
      const store = createMirrorStore(parts as unknown as MirrorStoreParts);
      const now = Date.now();
      const make = async (path: string, hoursAgo: number) => {
        const mirror = join(dataDir, "sources/h.example", path);
        await mkdir(join(mirror, "objects/pack"), { recursive: true });
        const at = new Date(now - hoursAgo * hour);
        await utimes(mirror, at, at);
      };
      await make(`deployed/mirror/${ONE}`, 1000);
      await make(`deployed/mirror/${OTHER}`, 950);
      await make(`deployed/submodules/${OTHER}`, 900);
      await make(`deployed/submodules/${ONE}`, 0);
      await make(`gone/group/mirror/${ONE}`, 500);
      await make(`tree/mirror/${ONE}`, 400);
      await mkdir(join(dataDir, "sources/h.example/tree/trees/1"), { recursive: true });
      for (let at = 0; at < 49; at++) await make(`other${at}/mirror/${ONE}`, 2 + at);
      const use = {
        needed: new Set([join(dataDir, "sources/h.example/deployed/mirror", ONE)]),
        usedBefore: new Date(now - hour),
      };
      assert.equal(await store.removeUnused(use, never), 4);
      assert.equal(await store.removeUnused(use, never), 0);
      const left = (await store.list()).map(({ path }) => path.split("h.example/")[1]);
      assert.equal(left.length, 51);
      assert.ok(
        left.includes(`deployed/mirror/${ONE}`) && left.includes(`deployed/submodules/${ONE}`),
      );
      const names = await readdir(join(dataDir, "sources/h.example"));
      assert.ok(!names.includes("gone") && names.includes("tree"));
      const young = { needed: new Set<string>(), usedBefore: new Date(now - 2000 * hour) };
      assert.equal(await store.removeUnused(young, never), 0);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it("are no mirrors any more when their removal is cut off", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const files = {
        ...systemFiles,
        async remove(path: string) {
          if (await systemFiles.stat(path) !== undefined) throw new Error("the process was killed");
        },
      };
      const parts = { dataDir, files, lock: createKeyedLock() } as unknown as MirrorStoreParts;
      const store = createMirrorStore(parts);
      for (let at = 0; at < 51; at++) {
        await mkdir(join(dataDir, `sources/h.example/${at}/mirror/${ONE}/objects`), {
          recursive: true,
        });
      }
      const use = { needed: new Set<string>(), usedBefore: new Date(Date.now() + hour) };
      await assert.rejects(store.removeUnused(use, never));
      assert.equal((await store.list()).length, 50);
      assert.equal(
        await createMirrorStore({ ...parts, files: systemFiles }).removeUnused(use, never),
        0,
      );
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it("go with what a removal left that was cut off, and with mirrors of earlier versions", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "swt-mirrors-"));
    try {
      const parts = { dataDir, files: systemFiles, lock: createKeyedLock() };
      const store = createMirrorStore(parts as unknown as MirrorStoreParts);
      const now = Date.now();
      const old = new Date(now - 5 * hour);
      const sources = join(dataDir, "sources/h.example");
      const left = [
        `shop/mirror/${ONE}/objects`,
        "shop/mirror/objects/pack",
        "shop/mirror/refs",
        "shop/submodules/http/objects",
        "shop/mirror/.tmp-mirror-old",
        "shop/mirror/.tmp-mirror-new",
        "gone/mirror/objects/pack",
      ];
      for (const each of left) await mkdir(join(sources, each), { recursive: true });
      await writeFile(join(sources, "gone/mirror/HEAD"), "ref: refs/heads/main\n");
      await utimes(join(sources, "shop/mirror/.tmp-mirror-old"), old, old);
      const mirrors = async () => (await store.list()).map(({ path }) => path);
      assert.deepEqual(await mirrors(), [join(sources, "shop/mirror", ONE)]);
      const use = { needed: new Set<string>(), usedBefore: new Date(now - hour) };
      assert.equal(await store.removeUnused(use, never), 0);
      assert.deepEqual(await mirrors(), [join(sources, "shop/mirror", ONE)]);
      assert.deepEqual(await readdir(sources), ["shop"]);
      assert.deepEqual(await readdir(join(sources, "shop")), ["mirror"]);
      const names = (await readdir(join(sources, "shop/mirror"))).sort();
      assert.deepEqual(names, [".tmp-mirror-new", ONE]);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});
