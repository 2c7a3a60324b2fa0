import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { systemFiles } from "../../../src/system/mod.ts";
import { lookAtRepository } from "../../../src/trigger/mod.ts";

describe("lookAtRepository()", () => {
  let root = "";
  let tick = 0;
  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "swt-look-"))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Writes a file as git does, at a time of its own: disks may be slower to tell than tests are. */
  const put = (path: string, text: string) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.lock`, text);
    const time = new Date(Date.UTC(2026, 0, 1) + 1000 * tick++);
    utimesSync(`${file}.lock`, time, time);
    renameSync(`${file}.lock`, file);
  };
  const bare = (directory: string) => {
    put(`${directory}/HEAD`, "ref: refs/heads/main\n");
    put(`${directory}/refs/heads/main`, "1\n");
    put(`${directory}/refs/tags/v1`, "1\n");
  };
  /** Whether a look tells the difference that `change` makes. */
  const sees = async (path: string, change: () => void) => {
    const look = lookAtRepository(systemFiles, join(root, path));
    const before = await look();
    assert.equal(await look(), before, "nothing changed yet");
    change();
    return await look() !== before;
  };

  it("sees what changes branches and tags of a bare repository, and nothing else", async () => {
    bare("r.git");
    assert.ok(await sees("r.git", () => put("r.git/refs/heads/main", "2\n")));
    assert.ok(await sees("r.git", () => put("r.git/refs/heads/feature/x", "1\n")));
    assert.ok(await sees("r.git", () => put("r.git/refs/heads/feature/x", "2\n")));
    assert.ok(await sees("r.git", () => rmSync(join(root, "r.git/refs/tags/v1"))));
    assert.ok(await sees("r.git", () => put("r.git/packed-refs", "packed\n")));
    assert.ok(await sees("r.git", () => put("r.git/reftable/tables.list", "table\n")));
    assert.ok(await sees("r.git", () => put("r.git/HEAD", "ref: refs/heads/next\n")));
    for (const other of ["objects/12/34", "refs/pull/1/head", "index", "FETCH_HEAD"]) {
      assert.ok(!await sees("r.git", () => put(`r.git/${other}`, "x")), other);
    }
  });

  it("knows a repository by its checkout, without its suffix, and by a link", async () => {
    bare("work/.git");
    assert.ok(await sees("work", () => put("work/.git/refs/heads/main", "2\n")));
    bare("short.git");
    assert.ok(await sees("short", () => put("short.git/refs/heads/main", "2\n")));
    symlinkSync("work", join(root, "link"));
    assert.ok(await sees("link", () => put("work/.git/refs/heads/main", "3\n")));
  });

  it("knows a linked checkout, whose branches are elsewhere", async () => {
    bare("main/.git");
    put("main/.git/worktrees/w/HEAD", "ref: refs/heads/main\n");
    put("main/.git/worktrees/w/commondir", "../..\n");
    put("linked/.git", "gitdir: ../main/.git/worktrees/w\n");
    assert.ok(await sees("linked", () => put("main/.git/refs/heads/main", "2\n")));
    assert.ok(await sees("linked", () => put("main/.git/worktrees/w/HEAD", "0\n")));
  });

  it("looks at few of very many branches, and sees by the directory that another one changed", async () => {
    bare("r.git");
    put("r.git/refs/tags/deep/v2", "1\n");
    const heads = join(root, "r.git/refs/heads");
    for (let at = 0; at < 5000; at++) writeFileSync(join(heads, `b${at}`), "1\n");
    let looks = 0;
    const stat: typeof systemFiles.stat = (path) => (looks++, systemFiles.stat(path));
    const look = lookAtRepository({ ...systemFiles, stat }, join(root, "r.git"));
    const before = await look();
    assert.ok(looks < 2100, `${looks} looks`);
    utimesSync(heads, new Date(0), new Date(0));
    const after = await look();
    assert.notEqual(after, before);
    put("r.git/refs/tags/deep/v2", "2\n");
    assert.notEqual(await look(), after);
  });

  it("sees a repository come, and never rejects", async () => {
    assert.ok(await sees("later.git", () => bare("later.git")));
    writeFileSync(join(root, "file"), "no repository");
    assert.equal(typeof await lookAtRepository(systemFiles, join(root, "file"))(), "string");
  });
});
