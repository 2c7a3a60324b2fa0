import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  MOST_GIVEN,
  procText,
  readFileNow,
  readText,
  systemFiles as files,
} from "../../../src/system/mod.ts";

/** Runs `work` with an empty directory that is removed afterwards. */
function inDirectory(work: (directory: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-files-"));
    try {
      await work(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };
}

const hasCode = (...codes: string[]) => (error: unknown) =>
  codes.includes(String((error as { code?: string }).code));

describe("systemFiles.write", () => {
  it(
    "write() makes a file with the given bytes and mode, and nothing beside it",
    inDirectory(async (directory) => {
      const path = join(directory, "a");
      await files.write(path, "text ü", { mode: 0o600 });
      assert.equal(await readFile(path, "utf8"), "text ü");
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      await files.write(path, Uint8Array.of(0, 255));
      assert.deepEqual([...await readFile(path)], [0, 255]);
      assert.deepEqual(await files.list(directory), ["a"]);
    }),
  );

  it(
    "write() puts a new file in the old one's place: who has that open reads on undisturbed",
    inDirectory(async (directory) => {
      const path = join(directory, "a");
      await writeFile(path, "old");
      await files.link(path, join(directory, "held"));
      await files.write(path, "new");
      assert.equal(await readFile(path, "utf8"), "new");
      assert.equal(await readFile(join(directory, "held"), "utf8"), "old");
    }),
  );

  it(
    "write() replaces a link and not the file it leads to",
    inDirectory(async (directory) => {
      await writeFile(join(directory, "far"), "far");
      await symlink("far", join(directory, "a"));
      await files.write(join(directory, "a"), "new");
      assert.equal(await readFile(join(directory, "far"), "utf8"), "far");
      assert.equal((await files.stat(join(directory, "a")))?.kind, "file");
    }),
  );

  it(
    "write() leaves nothing behind when the rename fails, and what was there as it was",
    inDirectory(async (directory) => {
      const path = join(directory, "a");
      await mkdir(path);
      await writeFile(join(path, "inner"), "kept");
      await assert.rejects(files.write(path, "new"), hasCode("EISDIR", "ENOTEMPTY", "EEXIST"));
      assert.deepEqual(await files.list(directory), ["a"]);
      assert.deepEqual(await files.list(path), ["inner"]);
    }),
  );

  it(
    "write() fails with the runtime's code where there is no directory",
    inDirectory(async (directory) => {
      await assert.rejects(files.write(join(directory, "no", "a"), "x"), hasCode("ENOENT"));
      await writeFile(join(directory, "file"), "");
      await assert.rejects(files.write(join(directory, "file", "a"), "x"), hasCode("ENOTDIR"));
      assert.deepEqual(await files.list(directory), ["file"]);
    }),
  );

  it(
    "removeOne() removes a file, a link or an empty directory, and nothing else",
    inDirectory(async (directory) => {
      const at = (name: string) => join(directory, name);
      await mkdir(at("empty"));
      await mkdir(at("full"));
      await writeFile(at("file"), "");
      await writeFile(at("full/file"), "");
      await files.replaceLink("full", at("link"));
      for (const name of ["empty", "full", "file/no", "file", "link", "no"]) {
        await files.removeOne(at(name));
      }
      assert.deepEqual(await files.list(directory), ["full"]);
      assert.deepEqual(await files.list(at("full")), ["file"]);
    }),
  );

  it(
    "removeEmpty() removes an empty directory, and nothing else",
    inDirectory(async (directory) => {
      const at = (name: string) => join(directory, name);
      await mkdir(at("empty"));
      await mkdir(at("full"));
      await writeFile(at("full/file"), "");
      await files.replaceLink("full", at("link"));
      for (const name of ["empty", "full", "full/file", "link", "no", "full/file/no"]) {
        await files.removeEmpty(at(name));
      }
      assert.deepEqual(await files.list(directory), ["full", "link"]);
      assert.deepEqual(await files.list(at("full")), ["file"]);
    }),
  );

  it(
    "write() many at once to one path leaves one whole file",
    inDirectory(async (directory) => {
      const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
      await Promise.all(texts.map((text) => files.write(join(directory, "a"), text)));
      assert.ok(texts.includes(await readFile(join(directory, "a"), "utf8")));
      assert.deepEqual(await files.list(directory), ["a"]);
    }),
  );
});

describe("systemFiles.writeInPlace", () => {
  it(
    "writeInPlace() keeps the inode, which mounts hold, and shortens the file",
    inDirectory(async (directory) => {
      const path = join(directory, "a");
      await files.writeInPlace(path, new TextEncoder().encode("longer text"));
      const { ino } = await stat(path);
      await files.writeInPlace(path, new TextEncoder().encode("short"), { mode: 0o755 });
      const after = await stat(path);
      assert.equal(await readFile(path, "utf8"), "short");
      assert.equal(after.ino, ino);
      assert.equal(after.mode & 0o777, 0o755);
    }),
  );
});

describe("systemFiles.holdDirectory", () => {
  it(
    "holdDirectory() keeps to the directory whatever takes its place, and takes no link for one",
    inDirectory(async (directory) => {
      const path = join(directory, "held");
      await mkdir(path);
      const held = await files.holdDirectory(path);
      assert.ok(held !== undefined);
      await files.rename(path, join(directory, "moved"));
      await files.replaceLink("/tmp", path);
      await files.write(join(held.path, "a"), "text");
      assert.equal(await readFile(join(directory, "moved", "a"), "utf8"), "text");
      await held.close();
      await held.close();
      assert.equal(await files.holdDirectory(path), undefined);
      assert.equal(await files.holdDirectory(join(directory, "missing")), undefined);
    }),
  );

  it(
    "writeInPlace() follows no link and waits for no reader of a pipe",
    inDirectory(async (directory) => {
      const path = join(directory, "link");
      await files.replaceLink("target", path);
      await assert.rejects(files.writeInPlace(path, new Uint8Array([1])), hasCode("ENXIO"));
      assert.deepEqual(await files.list(directory), ["link"]);
      await assert.rejects(files.writeInPlace("/dev/null", new Uint8Array([1])), hasCode("ENXIO"));
    }),
  );
});

describe("systemFiles.readInPieces", () => {
  it(
    "readInPieces() keeps no more in memory than was read",
    inDirectory(async (directory) => {
      const path = join(directory, "file");
      await files.write(path, "short");
      for await (const piece of files.readInPieces(path)) assert.equal(piece.buffer.byteLength, 5);
    }),
  );

  it(
    "readInPieces() opens nothing but plain files",
    inDirectory(async (directory) => {
      await files.write(join(directory, "file"), "text");
      await files.replaceLink("file", join(directory, "link"));
      for (const path of [join(directory, "link"), "/dev/null"]) {
        await assert.rejects(
          files.readInPieces(path)[Symbol.asyncIterator]().next(),
          hasCode("ENXIO"),
        );
      }
    }),
  );
});

describe("what reads files into memory", () => {
  it(
    "has a limit, also for files that do not say how large they are",
    inDirectory(async (directory) => {
      const path = join(directory, "file");
      await files.write(path, "text");
      await files.replaceLink("file", join(directory, "link"));
      for (const each of [path, join(directory, "link")]) {
        assert.equal(await readText(files, each, 4), "text");
        await assert.rejects(readText(files, each, 3), {
          code: "EFBIG",
          message: `${each} has more than 3 bytes, the most that is read`,
        });
      }
      await assert.rejects(files.readIfExists("/proc/self/status", 100), hasCode("EFBIG"));
      assert.match(await procText(files, "/proc/self/status"), /^Name:/);
      assert.equal(await procText(files, "/proc/none"), "");
    }),
  );

  it(
    "has one for settings as well, and reads pipes",
    inDirectory(async (directory) => {
      const path = join(directory, "file");
      await writeFile(path, "x".repeat(MOST_GIVEN));
      assert.equal(readFileNow(path).length, MOST_GIVEN);
      await writeFile(path, "x".repeat(MOST_GIVEN + 1));
      assert.throws(() => readFileNow(path), hasCode("EFBIG"));
      assert.throws(() => readFileNow(join(directory, "none")), hasCode("ENOENT"));
      const pipe = join(directory, "pipe");
      const writer = spawn("sh", ["-c", 'mkfifo "$0"; echo made; echo text >"$0"', pipe]);
      await once(writer.stdout, "data");
      assert.equal(readFileNow(pipe), "text\n");
    }),
  );
});

describe("systemFiles.readPlain", () => {
  it(
    "readPlain() reads plain files that are not too large, and nothing else",
    inDirectory(async (directory) => {
      const path = join(directory, "file");
      await files.write(path, "text", { mode: 0o600 });
      const found = await files.readPlain(path, 4);
      assert.deepEqual([new TextDecoder().decode(found?.data), found?.mode], ["text", 0o600]);
      assert.equal(await files.readPlain(path, 3), undefined);
      await files.replaceLink("file", join(directory, "link"));
      for (const other of [join(directory, "link"), join(directory, "none"), directory]) {
        assert.equal(await files.readPlain(other, 100), undefined);
      }
      assert.equal(await files.readPlain("/dev/null", 100), undefined);
      // It says that it is empty, as a file does that grows only after it was looked at.
      assert.equal(await files.readPlain("/proc/self/status", 100), undefined);
    }),
  );

  it(
    "readPlain() and writeInPlace() open no pipe, whoever waits at its other end",
    inDirectory(async (directory) => {
      const pipe = join(directory, "pipe");
      for (
        const [redirected, act] of [
          [">", () => files.readPlain(pipe, 100)],
          ["<", () => files.writeInPlace(pipe, "x").catch(() => undefined)],
        ] as const
      ) {
        const script = `rm -f "$0"; mkfifo "$0"; echo made; : ${redirected}"$0"; echo opened`;
        const waiting = spawn("sh", ["-c", script, pipe], { stdio: ["ignore", "pipe", "ignore"] });
        let said = "";
        waiting.stdout.on("data", (text) => said += text);
        while (said === "") await sleep(10);
        await sleep(100);
        assert.equal(await act(), undefined);
        await sleep(100);
        waiting.kill();
        await once(waiting, "close");
        assert.equal(said, "made\n");
      }
    }),
  );
});

describe("systemFiles.replaceLink", () => {
  it(
    "replaceLink() makes a link and moves it, to a target that may be missing",
    inDirectory(async (directory) => {
      const path = join(directory, "current");
      for (const target of ["one", "../two", "/three"]) {
        await files.replaceLink(target, path);
        assert.equal(await files.readLink(path), target);
        assert.deepEqual(await files.list(directory), ["current"]);
      }
    }),
  );

  it(
    "replaceLink() leaves nothing behind when a directory is in its place",
    inDirectory(async (directory) => {
      const path = join(directory, "current");
      await mkdir(path);
      await writeFile(join(path, "inner"), "kept");
      await assert.rejects(files.replaceLink("one", path));
      assert.deepEqual(await files.list(directory), ["current"]);
      assert.deepEqual(await files.list(path), ["inner"]);
    }),
  );
});

describe("systemFiles.stat", () => {
  it(
    "stat() tells files, directories and links, without following them, and sizes and modes",
    inDirectory(async (directory) => {
      const at = (name: string) => join(directory, name);
      await files.write(at("file"), "12345", { mode: 0o640 });
      await files.makeDirectory(at("sub/deep"), { mode: 0o700 });
      await files.replaceLink("file", at("link"));
      await files.replaceLink("nowhere", at("dangling"));
      const file = await files.stat(at("file"));
      assert.deepEqual([file?.kind, file?.size, file?.mode], ["file", 5, 0o640]);
      assert.ok(file?.modifiedAt instanceof Date);
      assert.equal((await files.stat(at("sub")))?.kind, "directory");
      assert.equal((await files.stat(at("link")))?.kind, "symlink");
      assert.equal((await files.stat(at("dangling")))?.kind, "symlink");
      assert.equal((await files.stat("/dev/null"))?.kind, "other");
      await files.chmod(at("file"), 0o4755);
      assert.equal((await files.stat(at("file")))?.mode, 0o4755);
    }),
  );
});

describe("systemFiles where there is nothing", () => {
  it(
    "a missing path is a value, also below a file",
    inDirectory(async (directory) => {
      await writeFile(join(directory, "file"), "");
      for (const path of [join(directory, "no"), join(directory, "file", "no")]) {
        assert.equal(await files.readIfExists(path, 9), undefined);
        assert.equal(await files.stat(path), undefined);
        assert.equal(await files.readLink(path), undefined);
        assert.equal(await files.realPath(path), undefined);
        assert.deepEqual(await files.list(path), []);
      }
      await files.remove(join(directory, "no"));
    }),
  );

  it(
    "another failure keeps the runtime's code",
    inDirectory(async (directory) => {
      await assert.rejects(files.readIfExists(directory, 9), hasCode("EISDIR"));
      await assert.rejects(
        files.rename(join(directory, "a"), join(directory, "b")),
        hasCode("ENOENT"),
      );
    }),
  );
});

describe("systemFiles for directories", () => {
  it(
    "listAtMost() sorts as many names as it may read, has none of more, and an empty list of nothing",
    inDirectory(async (directory) => {
      for (const name of ["b", "a"]) await mkdir(join(directory, name));
      assert.deepEqual(await files.listAtMost(directory, 2), ["a", "b"]);
      assert.equal(await files.listAtMost(directory, 1), undefined);
      assert.deepEqual(await files.listAtMost(join(directory, "a"), 0), []);
      assert.deepEqual(await files.listAtMost(join(directory, "none"), 0), []);
    }),
  );

  it(
    "listAtMost() leaves no descriptor open where there are more names than it may read",
    inDirectory(async (directory) => {
      for (const name of ["b", "a"]) await mkdir(join(directory, name));
      const open = async () => (await files.list("/proc/self/fd")).length;
      const before = await open();
      for (let tries = 0; tries < 50; tries++) await files.listAtMost(directory, 0);
      // Other tests of this process may open some.
      assert.ok(await open() < before + 25);
    }),
  );

  it(
    "list() sorts, makeDirectory() may be repeated, remove() takes whole trees",
    inDirectory(async (directory) => {
      for (const name of ["b", "B", "a", ".c"]) await files.write(join(directory, name), "");
      assert.deepEqual(await files.list(directory), [".c", "B", "a", "b"]);
      await files.makeDirectory(join(directory, "x/y"));
      await files.makeDirectory(join(directory, "x/y"));
      await files.remove(join(directory, "x"));
      assert.equal(await files.stat(join(directory, "x")), undefined);
    }),
  );

  it(
    "makeDirectory() does not fail when others remove what is empty meanwhile",
    inDirectory(async (directory) => {
      const names = ["a/b/c", "a/b", "a"].map((each) => join(directory, each));
      let isOver = false;
      const removing = async () => {
        while (!isOver) {
          for (const each of names) await files.removeEmpty(each);
          // Somebody who does nothing else may win any number of times.
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const other = removing();
      try {
        for (let tries = 0; tries < 1000; tries++) await files.makeDirectory(names[0] ?? "");
      } finally {
        isOver = true;
        await other;
      }
    }),
  );

  it(
    "remove() of a link leaves what it leads to",
    inDirectory(async (directory) => {
      await files.makeDirectory(join(directory, "kept"));
      await files.replaceLink("kept", join(directory, "link"));
      await files.remove(join(directory, "link"));
      assert.deepEqual(await files.list(directory), ["kept"]);
    }),
  );

  it(
    "realPath() resolves every link; makeTemporaryDirectory() never gives the same one",
    inDirectory(async (directory) => {
      await files.makeDirectory(join(directory, "tree/a"));
      await files.replaceLink("tree", join(directory, "current"));
      const real = await files.realPath(directory);
      assert.equal(await files.realPath(join(directory, "current/a")), `${real}/tree/a`);
      const prefix = join(directory, "tmp-");
      const made = [
        await files.makeTemporaryDirectory(prefix),
        await files.makeTemporaryDirectory(prefix),
      ];
      assert.notEqual(made[0], made[1]);
      for (const each of made) {
        assert.ok(each.startsWith(prefix));
        assert.deepEqual(await files.list(each), []);
      }
    }),
  );
});
