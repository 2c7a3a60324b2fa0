import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { RealTree } from "../../../src/deploy/mod.ts";
import { systemFiles } from "../../../src/system/mod.ts";

describe("RealTree", () => {
  let host = "";
  let tree: RealTree;

  before(async () => {
    host = await mkdtemp(join(tmpdir(), "stackwright-test-"));
    await mkdir(join(host, "real/a"), { recursive: true });
    await writeFile(join(host, "real/a/file"), "");
    await writeFile(join(host, "outside"), "");
    await symlink("a", join(host, "real/within"));
    await symlink("../outside", join(host, "real/out"));
    await symlink("../nothing", join(host, "real/dangling"));
    // The tree itself may be reached through a link, as `current` is.
    await symlink("real", join(host, "tree"));
    tree = new RealTree(systemFiles, join(host, "tree"));
  });

  after(async () => await rm(host, { recursive: true }));

  const TABLE: readonly [path: string, inside: string | undefined, out: boolean][] = [
    [".", ".", false],
    ["a/file", "a/file", false],
    ["within/file", "a/file", false],
    ["missing", undefined, false],
    ["dangling", undefined, false],
    ["out", undefined, true],
    ["../outside", undefined, true],
    ["/", undefined, true],
  ];
  for (const [path, inside, out] of TABLE) {
    it(`finds ${path} ${inside === undefined ? "not inside" : `at ${inside}`}`, async () => {
      assert.equal((await tree.at(path)).inside, inside);
      assert.equal(await tree.leadsOut(path), out);
    });
  }

  it("takes absolute paths, too", async () => {
    assert.equal((await tree.at(join(host, "tree/within"))).inside, "a");
    assert.equal(await tree.leadsOut(join(host, "outside")), true);
  });

  it("tells links to nothing from other links and from nothing", async () => {
    const paths = ["dangling", "within", "out", "missing", "a"];
    const dangling = await Promise.all(paths.map((path) => tree.isDangling(path)));
    assert.deepEqual(dangling, [true, false, false, false, false]);
  });

  it("holds nothing while it is not there itself", async () => {
    const none = new RealTree(systemFiles, join(host, "none"));
    assert.deepEqual(await none.at("x"), { real: undefined, inside: undefined });
    assert.equal(await none.leadsOut("x"), false);
  });
});
