import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import process from "node:process";
import type { Revision } from "../../../src/model/mod.ts";
import {
  createRepository,
  type FakeFile,
  type FakeRepository,
} from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";
import { sampleOf } from "../../fakes/sample.ts";

// A sample has one of the two ways to what changed; the gate has each.
for (const mostFilesWithoutGit of sampleOf([64, 0], 2)) {
  describe(`GitSource.materialise(), ${mostFilesWithoutGit} files without git`, () => {
    let t: TestSource;
    let repository: FakeRepository;

    beforeEach(async () => {
      t = await createTestSource({ options: { mostFilesWithoutGit } });
      repository = await createRepository(join(t.directory, "remote"));
    });
    afterEach(() => t.close());

    const publish = async (files: Readonly<Record<string, FakeFile>>) => {
      await repository.commit(files);
      const revision = await t.resolve(repository.url, "main");
      return { revision, tree: await t.source.materialise(revision, never()) };
    };

    it("writes exactly the committed bytes, modes and links, and no .git", async () => {
      const { tree, revision } = await publish({
        "plain": "text\n",
        "crlf.txt": "a\nb\n",
        "kept/data": "not lost\n",
        "with space/ü\nnew.txt": "odd\n",
        "run.sh": { executable: "#!/bin/sh\n" },
        "link": { link: "with space" },
        "loop": { link: "loop" },
        "dangling": { link: "not/there" },
        ".gitattributes": "* text eol=crlf\nkept export-ignore\n*.txt export-subst ident\n",
      });
      assert.equal(tree, join(t.dataDir, "sources", revision.source.name, "trees", revision.id));
      assert.deepEqual(fs.readdirSync(tree).sort(), [
        ".gitattributes",
        "crlf.txt",
        "dangling",
        "kept",
        "link",
        "loop",
        "plain",
        "run.sh",
        "with space",
      ]);
      assert.equal(fs.readFileSync(join(tree, "crlf.txt"), "utf8"), "a\nb\n");
      assert.equal(fs.readFileSync(join(tree, "kept/data"), "utf8"), "not lost\n");
      assert.equal(fs.readFileSync(join(tree, "with space/ü\nnew.txt"), "utf8"), "odd\n");
      assert.equal(fs.readlinkSync(join(tree, "link")), "with space");
      const mode = (path: string) => fs.statSync(join(tree, path)).mode & 0o7777;
      assert.deepEqual([mode("plain"), mode("run.sh"), mode("kept"), mode(".")], [
        0o644,
        0o755,
        0o755,
        0o755,
      ]);
    });

    it("makes 0644 and 0755 whatever the mask of the process is", async () => {
      const before = process.umask(0o077);
      try {
        const { tree } = await publish({ "d/one": "1", "d/same": "2" });
        const next = await publish({ "d/one": "changed" });
        for (const root of [tree, next.tree]) {
          const mode = (path: string) => fs.statSync(join(root, path)).mode & 0o7777;
          assert.deepEqual([mode("."), mode("d"), mode("d/one"), mode("d/same")], [
            0o755,
            0o755,
            0o644,
            0o644,
          ]);
        }
      } finally {
        process.umask(before);
      }
    });

    it("shares every unchanged file with the tree before, by inode", async () => {
      const many = Object.fromEntries(
        Array.from({ length: 1000 }, (_, n) => [`dir${n % 10}/file${n}`, `content ${n}\n`]),
      );
      const first = await publish(many);
      await repository.remove(["dir0/file0"]);
      await repository.git("update-index", "--chmod=+x", "dir2/file2");
      await repository.git("checkout", "--", "dir2/file2");
      const second = await publish({ "dir1/file1": "changed\n", "new/file": "new\n" });
      const inode = (tree: string, path: string) => fs.statSync(join(tree, path)).ino;
      const shared = Object.keys(many).filter((path) =>
        fs.existsSync(join(second.tree, path)) &&
        inode(first.tree, path) === inode(second.tree, path)
      );
      assert.equal(shared.length, 997);
      assert.ok(!fs.existsSync(join(second.tree, "dir0/file0")));
      assert.equal(fs.readFileSync(join(first.tree, "dir1/file1"), "utf8"), "content 1\n");
      assert.equal(fs.readFileSync(join(second.tree, "dir1/file1"), "utf8"), "changed\n");
      assert.equal(fs.statSync(join(second.tree, "dir2/file2")).mode & 0o777, 0o755);
      assert.equal(fs.statSync(join(first.tree, "dir2/file2")).mode & 0o777, 0o644);
    });

    it("follows files that become directories and links, and back", async () => {
      const steps: Record<string, FakeFile>[] = [
        { "x": "file", "y/in": "dir" },
        { "x/in": "dir", "y": { link: "x" } },
        { "x": { link: "y" }, "y": "file" },
      ];
      for (const step of steps) {
        await repository.git("rm", "-r", "-q", "--ignore-unmatch", ".");
        const { tree } = await publish(step);
        for (const [path, file] of Object.entries(step)) {
          if (typeof file === "string") {
            assert.equal(fs.readFileSync(join(tree, path), "utf8"), file);
          } else assert.equal(fs.readlinkSync(join(tree, path)), "link" in file ? file.link : "");
        }
      }
    });

    it("does not pass a damaged file on to the next tree", async () => {
      const first = await publish({ "a": "right\n", "b": "1\n" });
      fs.writeFileSync(join(first.tree, "a"), "");
      const second = await publish({ "b": "2\n" });
      assert.equal(fs.readFileSync(join(second.tree, "a"), "utf8"), "right\n");
    });

    it("exports an empty commit, and one without files", async () => {
      const { tree, revision } = await publish({});
      assert.deepEqual(fs.readdirSync(tree), []);
      assert.equal(await t.source.materialise(revision, never()), tree);
    });

    it("publishes once when many ask, in one process and in two", async () => {
      await repository.commit({ "a": "1\n", "b/c": "2\n" });
      const revision = await t.resolve(repository.url, "main");
      const other = t.again();
      const made = await Promise.all(
        [t, t, t, other, other].map(({ source }) => source.materialise(revision, never())),
      );
      await other.source.close();
      assert.equal(new Set(made).size, 1);
      const trees = dirname(made[0] ?? "");
      assert.deepEqual(fs.readdirSync(trees), [revision.id]);
      assert.equal(fs.readFileSync(join(made[0] ?? "", "b/c"), "utf8"), "2\n");
    });

    it("writes nothing when the tree is there", async () => {
      const { revision, tree } = await publish({ "a": "1\n", "b/c": "2\n" });
      const state = () =>
        [tree, join(tree, "b"), join(tree, "a"), join(tree, "b/c")].map((path) => {
          const { ino, birthtimeMs } = fs.statSync(path);
          return { ino, birthtimeMs };
        });
      const [before, commands] = [state(), t.commands.length];
      await t.source.materialise(revision, never());
      assert.deepEqual(state(), before);
      assert.equal(t.commands.length, commands);
    });

    it("asks git for what changed and no more", async () => {
      await publish({ "a": "1\n", "b/c": "2\n" });
      const before = t.commands.length;
      const { tree } = await publish({ "a": "3\n" });
      assert.equal(fs.readFileSync(join(tree, "a"), "utf8"), "3\n");
      const verbs = ["ls-remote", "fetch", "ls-tree", "read-tree", "checkout-index"];
      const asked = t.commands.slice(before).map(({ argv }) =>
        verbs.find((verb) => argv.includes(verb)) ?? argv.join(" ")
      );
      const byGit = mostFilesWithoutGit === 0 ? ["read-tree", "checkout-index"] : [];
      assert.deepEqual(asked, ["ls-remote", "fetch", "ls-tree", ...byGit]);
    });

    it("publishes again what vanished, is empty, or holds only what an engine made", async () => {
      const { revision, tree } = await publish({ "conf/app.conf": "x\n", "a": "1\n" });
      for (const leave of [undefined, ".", "conf/app.conf"]) {
        fs.rmSync(tree, { recursive: true });
        if (leave !== undefined) fs.mkdirSync(join(tree, leave), { recursive: true });
        await t.source.materialise(revision, never());
        assert.equal(fs.readFileSync(join(tree, "conf/app.conf"), "utf8"), "x\n", leave ?? "gone");
      }
    });

    it("serves a tree that is there although mirror and remote are gone", async () => {
      const { revision, tree } = await publish({ "a": "1\n" });
      fs.rmSync(t.mirror(repository.url), { recursive: true });
      fs.rmSync(repository.path, { recursive: true });
      const later = t.again();
      assert.equal(await later.source.materialise(revision, never()), tree);
      await later.source.close();
    });

    it("sweeps what a crash left more than an hour ago, and nothing younger", async () => {
      const { tree } = await publish({ "a": "1\n" });
      const trees = dirname(tree);
      for (const name of [".tmp-old", ".tmp-young"]) {
        fs.mkdirSync(join(trees, name));
        fs.writeFileSync(join(trees, name, "x"), "");
      }
      execFileSync("touch", ["-d", "2 hours ago", join(trees, ".tmp-old")]);
      await publish({ "a": "2\n" });
      const left = fs.readdirSync(trees).filter((name) => name.startsWith(".tmp-"));
      assert.deepEqual(left, [".tmp-young"]);
    });

    it("refuses links that leave the tree, naming link and target, and publishes nothing", async () => {
      const cases: Record<string, FakeFile>[] = [
        { "evil": { link: "/etc/passwd" } },
        { "evil": { link: "../../mirror/config" } },
        { "a/b/evil": { link: "../../../x" } },
        { "evil": { link: "missing/../../x" } },
        { "deep/dir/f": "x", "short": { link: "deep/dir" }, "evil": { link: "short/../../../x" } },
        { "d/f": "x", "x/y/up": { link: "../../d" }, "x/evil": { link: "y/up/../../z" } },
        // A name may begin with a byte order mark, which decoders like to drop.
        { "x/y/\ufeffup": { link: "../.." }, "x/y/evil": { link: "\ufeffup/../z" } },
      ];
      for (const files of cases) {
        await repository.git("rm", "-r", "-q", "--ignore-unmatch", ".");
        await repository.commit(files);
        const revision = await t.resolve(repository.url, "main");
        await assert.rejects(t.source.materialise(revision, never()), (error: Error) => {
          assert.match(error.message, /evil" points to "/);
          assert.equal((error as { code?: string }).code, "path_escapes");
          return true;
        });
      }
      const { source } = await t.resolve(repository.url, "main");
      const trees = join(t.dataDir, "sources", source.name, "trees");
      assert.deepEqual(fs.existsSync(trees) ? fs.readdirSync(trees) : [], []);
    });

    it("warns of pointers of Git LFS, once and by name", async () => {
      const pointer = "version https://git-lfs.github.com/spec/v1\n" +
        `oid sha256:${"0123456789abcdef".repeat(4)}\nsize 12345\n`;
      await publish({
        ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "m/big.bin": pointer,
        "text": "x".repeat(200),
      });
      assert.equal(t.warnings.length, 1);
      assert.match(t.warnings[0] ?? "", /LFS.*m\/big\.bin$/);
    });

    it("refuses file names that are not UTF-8", async () => {
      await repository.commit({ "a": "1" });
      const blob = await repository.git("rev-parse", "HEAD:a");
      const name = Uint8Array.of(0xff, 0xfe);
      execFileSync("git", [
        "-C",
        join(t.directory, "remote/work"),
        "update-index",
        "-z",
        "--index-info",
      ], {
        input: Uint8Array.from([...new TextEncoder().encode(`100644 ${blob}\t`), ...name, 0]),
      });
      await repository.git("commit", "-q", "-m", "odd");
      await repository.git("push", "-q", "origin", "main");
      const revision = await t.resolve(repository.url, "main");
      await assert.rejects(t.source.materialise(revision, never()), {
        code: "source_invalid",
        message: /not UTF-8/,
      });
    });

    describe("on a disk that refuses", () => {
      const refused = async (revision: Revision, path: RegExp) => {
        await assert.rejects(t.source.materialise(revision, never()), (error: Error) => {
          assert.equal((error as { code?: string }).code, "data_dir_unusable");
          assert.match(error.message, path);
          return true;
        });
      };

      it("names the path when a file is in the way", async () => {
        const { revision, tree } = await publish({ "a": "1\n" });
        fs.rmSync(dirname(tree), { recursive: true });
        fs.writeFileSync(dirname(tree), "in the way");
        await refused(revision, /trees/);
      });

      it("names the path when the mirror cannot be made", async () => {
        await repository.commit({ "a": "1\n" });
        fs.writeFileSync(t.dataDir, "in the way");
        await assert.rejects(t.resolve(repository.url, "main"), { code: "data_dir_unusable" });
      });

      it("leaves nothing behind when the disk is full", { skip: cannotMount() }, async () => {
        await repository.commit({ "small": "x\n", "big": randomBytes(2_000_000) });
        const revision = await t.resolve(repository.url, "main");
        const trees = join(t.dataDir, "sources", revision.source.name, "trees");
        fs.mkdirSync(trees);
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", trees]);
        try {
          await refused(revision, /trees/);
          assert.deepEqual(fs.readdirSync(trees), []);
        } finally {
          // On a busy machine something may still look into it.
          execFileSync("umount", ["--lazy", trees]);
        }
      });
    });
  });
}

/** Why the full disk cannot be tried here, or false. */
function cannotMount(): string | false {
  if (process.getuid?.() !== 0) return "needs root to mount a small file system";
  const place = fs.mkdtempSync("/tmp/swt-mount-");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", place], { stdio: "ignore" });
    execFileSync("umount", [place]);
    return false;
  } catch {
    return "this container may not mount";
  } finally {
    fs.rmdirSync(place);
  }
}
