import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { stackDirectories, StackFiles } from "../../../src/deploy/mod.ts";
import { isStackwrightError, type LiveManifest, stackKey } from "../../../src/model/mod.ts";
import { type Files, systemFiles } from "../../../src/system/mod.ts";

/** A file of a tree: its text, or more where it is no plain file. */
type Entry = string | { readonly link: string } | { readonly text: string; readonly mode: number };

/** A stack on a real disk, whose releases a test writes down as trees. */
class Stack {
  readonly #root: string;
  #before: LiveManifest = { files: {}, directories: [] };
  #count = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** Files of containers that the next release would replace. */
  async replaced(entries: Readonly<Record<string, string>>): Promise<string[]> {
    const tree = join(this.#root, "next");
    await fs.rm(tree, { recursive: true, force: true });
    for (const [path, entry] of Object.entries(entries)) await put(join(tree, path), entry);
    const files = Object.fromEntries(
      Object.entries(entries).map(([path, entry]) => [path, JSON.stringify(entry)]),
    );
    const release = { live: { files, directories: [] }, services: [] };
    return await new StackFiles(systemFiles, this.directories).replaces(tree, release);
  }

  /** Switches to a release with `entries`; their path and content stand for their object id. */
  async switchTo(
    entries: Readonly<Record<string, Entry>>,
    options: {
      directories?: readonly string[];
      files?: Files;
      live?: readonly string[];
      /** Whether nobody notes that it lies there now, as after a kill. */
      forgets?: boolean;
    } = {},
  ): Promise<void> {
    const tree = join(this.#root, "trees", `${this.#count++}`);
    for (const [path, entry] of Object.entries(entries)) await put(join(tree, path), entry);
    await fs.mkdir(tree, { recursive: true });
    const tracked = Object.entries(entries).filter(([path]) =>
      options.live === undefined || options.live.some((each) => path.startsWith(each))
    );
    const live: LiveManifest = {
      files: Object.fromEntries(tracked.map(([path, entry]) => [path, JSON.stringify(entry)])),
      directories: options.directories ?? [],
    };
    const files = new StackFiles(options.files ?? systemFiles, this.directories);
    await files.switchTo(tree, { live, services: [] }, this.#before);
    if (options.forgets !== true) this.#before = live;
  }

  /** Begins a switch that ends, as by a kill, when a path is written. */
  async interrupt(entries: Readonly<Record<string, Entry>>, path: string): Promise<void> {
    const files: Files = {
      ...systemFiles,
      writeInPlace: (place, data, options) =>
        place.endsWith(basename(path))
          ? Promise.reject(new Error("killed"))
          : systemFiles.writeInPlace(place, data, options),
    };
    await assert.rejects(this.switchTo(entries, { files }), /killed/);
  }

  /** What lies in the stack's directory. */
  async entries(): Promise<string[]> {
    return await systemFiles.list(this.directories.stack);
  }

  /** The release that was switched to proved good, or was put back. */
  async settle(): Promise<void> {
    await new StackFiles(systemFiles, this.directories).settle();
  }

  get directories() {
    return stackDirectories(this.#root, stackKey("", "shop"));
  }

  live(path: string): string {
    return join(this.directories.live, path);
  }

  async text(path: string): Promise<string | undefined> {
    const bytes = await systemFiles.readIfExists(this.live(path), 1 << 24);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }
}

async function put(place: string, entry: Entry): Promise<void> {
  await fs.mkdir(dirname(place), { recursive: true });
  if (typeof entry === "string") return await fs.writeFile(place, entry);
  if ("link" in entry) return await fs.symlink(entry.link, place);
  await fs.writeFile(place, entry.text);
  await fs.chmod(place, entry.mode);
}

function test(title: string, check: (stack: Stack) => Promise<void>): void {
  it(title, async () => {
    const root = await fs.mkdtemp(join(tmpdir(), "swt-files-"));
    try {
      await check(new Stack(root));
    } finally {
      await fs.rm(root, { recursive: true, force: true });
    }
  });
}

describe("StackFiles.switchTo()", () => {
  test("copies what containers may write to piece by piece, however large it is", async (stack) => {
    const text = "x".repeat(3 * 1024 * 1024 + 1);
    let largest = 0;
    const files: Files = {
      ...systemFiles,
      readIfExists: (path, most) =>
        path.endsWith("/large")
          ? Promise.reject(new Error("whole"))
          : systemFiles.readIfExists(path, most),
      async *readInPieces(path) {
        for await (const piece of systemFiles.readInPieces(path)) {
          largest = Math.max(largest, piece.length);
          yield piece;
        }
      },
    };
    await stack.switchTo({ "site/large": text }, { files });
    await stack.switchTo({ "site/large": `${text}2` }, { files });
    assert.equal(await stack.text("site/large"), `${text}2`);
    assert.equal(largest, 1024 * 1024);
  });

  test("leads current to the tree by a relative link, which follows a moved data directory", async (stack) => {
    await stack.switchTo({ "site/page": "1" });
    await stack.switchTo({ "site/page": "2" });
    const target = await fs.readlink(stack.directories.current);
    assert.equal(target, "../../../trees/1");
    assert.equal(await fs.readFile(join(stack.directories.current, "site/page"), "utf8"), "2");
  });

  test("takes over what changed upstream, also over what a container wrote", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/b": "1" });
    await fs.writeFile(stack.live("data/b"), "container");
    await stack.switchTo({ "data/a": "2", "data/b": "2" });
    assert.equal(await stack.text("data/a"), "2");
    assert.equal(await stack.text("data/b"), "2");
  });

  for (const interrupted of [false, true]) {
    const name = "puts back what a container wrote when a release is taken back";
    test(interrupted ? `${name}, also when it was interrupted` : name, async (stack) => {
      const first = { "data/a": "1", "data/gone": "1", "data/same": "1", "data/script": "1" };
      await stack.switchTo(first);
      await fs.writeFile(stack.live("data/a"), "container");
      await fs.writeFile(stack.live("data/gone"), "container too");
      await fs.writeFile(stack.live("data/new"), "container only");
      await fs.chmod(stack.live("data/a"), 0o755);
      const second = { "data/a": "2", "data/new": "2", "data/same": "1", "data/script": "2" };
      if (interrupted) await stack.interrupt(second, "data/script");
      await stack.switchTo(second);
      assert.equal(await stack.text("data/a"), "2");
      assert.equal(await stack.text("data/gone"), "container too");
      assert.equal(await stack.text("data/new"), "2");
      await stack.switchTo(first);
      await stack.settle();
      assert.equal(await stack.text("data/new"), "container only");
      assert.equal(await stack.text("data/a"), "container");
      assert.equal((await fs.stat(stack.live("data/a"))).mode & 0o777, 0o755);
      assert.equal(await stack.text("data/gone"), "container too");
      assert.equal(await stack.text("data/same"), "1");
      assert.equal(await stack.text("data/script"), "1");
      assert.deepEqual(await stack.entries(), ["current", "files.json", "live"]);
    });
  }

  test("forgets what a container wrote when the release that replaced it is good", async (stack) => {
    await stack.switchTo({ "data/a": "1" });
    await fs.writeFile(stack.live("data/a"), "container");
    await stack.switchTo({ "data/a": "2" });
    assert.deepEqual(await stack.entries(), ["current", "files.json", "live", "replaced"]);
    await stack.settle();
    assert.deepEqual(await stack.entries(), ["current", "files.json", "live"]);
    await stack.switchTo({ "data/a": "1" });
    assert.equal(await stack.text("data/a"), "1");
  });

  test("keeps nothing for the release before the last, and no file that a link leads to", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/link": "1" });
    await fs.writeFile(stack.live("data/a"), "container");
    await fs.rm(stack.live("data/link"));
    await fs.symlink("/etc/hostname", stack.live("data/link"));
    await stack.switchTo({ "data/a": "2", "data/link": "2" });
    await stack.switchTo({ "data/a": "3", "data/link": "3" });
    await stack.switchTo({ "data/a": "1", "data/link": "1" });
    assert.equal(await stack.text("data/a"), "1");
    assert.equal(await stack.text("data/link"), "1");
  });

  test("leaves what only a container changed, and makes again what it removed", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/b": "1" });
    await fs.writeFile(stack.live("data/a"), "container");
    await fs.rm(stack.live("data/b"));
    await stack.switchTo({ "data/a": "1", "data/b": "1" });
    assert.equal(await stack.text("data/a"), "container");
    assert.equal(await stack.text("data/b"), "1");
  });

  test("removes what upstream removed, and nothing beside it", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/sub/b": "1" });
    await fs.writeFile(stack.live("data/sub/own"), "container");
    await stack.switchTo({ "data/a": "1" });
    assert.equal(await stack.text("data/sub/b"), undefined);
    assert.equal(await stack.text("data/sub/own"), "container");
    assert.equal(await stack.text("data/a"), "1");
  });

  test("keeps files of containers through ten releases", async (stack) => {
    await stack.switchTo({ "data/seed": "0" }, { directories: ["out"] });
    await fs.writeFile(stack.live("data/own"), "mine");
    await fs.mkdir(stack.live("out/deep"));
    await fs.writeFile(stack.live("out/deep/own"), "mine too");
    for (let release = 1; release <= 10; release++) {
      await stack.switchTo({ "data/seed": `${release}` }, { directories: ["out"] });
    }
    assert.equal(await stack.text("data/seed"), "10");
    assert.equal(await stack.text("data/own"), "mine");
    assert.equal(await stack.text("out/deep/own"), "mine too");
  });

  test("keeps files of containers when their directory is no longer mounted", async (stack) => {
    await stack.switchTo({}, { directories: ["out"] });
    await fs.writeFile(stack.live("out/own"), "mine");
    await stack.switchTo({}, { directories: [] });
    assert.equal(await stack.text("out/own"), "mine");
  });

  test("puts only live paths into live", async (stack) => {
    await stack.switchTo({ "data/a": "1", "site/page": "1" }, { live: ["data/"] });
    assert.equal(await stack.text("data/a"), "1");
    assert.equal(await stack.text("site/page"), undefined);
  });

  test("keeps links as links and files executable", async (stack) => {
    await stack.switchTo({
      "data/run": { text: "#!/bin/sh", mode: 0o755 },
      "data/plain": { text: "x", mode: 0o644 },
      "data/link": { link: "plain" },
      "data/broken": { link: "nowhere" },
    });
    const mode = async (path: string) => (await fs.stat(stack.live(path))).mode & 0o777;
    assert.equal(await mode("data/run"), 0o755);
    assert.equal(await mode("data/plain"), 0o644);
    assert.equal(await fs.readlink(stack.live("data/link")), "plain");
    assert.equal(await fs.readlink(stack.live("data/broken")), "nowhere");
  });

  test("turns a file into a link and back, and follows a changed link", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/b": "b" });
    await stack.switchTo({ "data/a": { link: "b" }, "data/b": "b" });
    assert.equal(await fs.readlink(stack.live("data/a")), "b");
    await stack.switchTo({ "data/a": { link: "c" }, "data/b": "b" });
    assert.equal(await fs.readlink(stack.live("data/a")), "c");
    await stack.switchTo({ "data/a": "2", "data/b": "b" });
    assert.equal(await fs.readlink(stack.live("data/a")).catch(() => "a file"), "a file");
    assert.equal(await stack.text("data/a"), "2");
    assert.equal(await stack.text("data/b"), "b");
  });

  test("leaves what containers made in a submodule that is not fetched", async (stack) => {
    const files = new StackFiles(systemFiles, stack.directories);
    const tree = join(stack.directories.stack, "..", "tree");
    await fs.mkdir(join(tree, "mod"), { recursive: true });
    const live = { files: { mod: "submodule:1" }, directories: [] };
    const none = { files: {}, directories: [] };
    for (const isUsed of [false, true]) {
      await files.switchTo(tree, { live, services: [] }, none);
      if (isUsed) await put(stack.live("mod/own/deep"), "x");
      await files.switchTo(tree, { live: none, services: [] }, live);
      assert.deepEqual(await systemFiles.list(stack.directories.live), isUsed ? ["mod"] : []);
    }
    assert.equal(await stack.text("mod/own/deep"), "x");
    assert.deepEqual(await stack.entries(), ["current", "files.json", "live"]);
  });

  const large = "x".repeat(3 * 1024 * 1024);
  for (
    const [what, text, lies] of [
      ["a container wrote to, as it is", "rows", "rows"],
      ["a container wrote much to, as it is", `${large.slice(1)}y`, `${large.slice(1)}y`],
      ["nobody wrote to, and removes it", large, undefined],
    ] as const
  ) {
    test(`leaves a file that Git has no more, which ${what}`, async (stack) => {
      await stack.switchTo({ "data/db": large, "data/other": "1" });
      await fs.writeFile(stack.live("data/db"), text);
      for (const other of ["2", "3"]) await stack.switchTo({ "data/other": other });
      const found = await stack.text("data/db");
      assert.ok(found === lies, `${found?.length}`);
    });
  }

  for (const way of ["out of the release", "only read"]) {
    test(`keeps what a container wrote to a file that is ${way} for a while`, async (stack) => {
      const tracked = { "data/db": "seed", "data/plain": "1", "other/a": "1" };
      await stack.switchTo(tracked);
      await fs.writeFile(stack.live("data/db"), "rows");
      const less = way === "only read" ? tracked : { "other/a": "1" };
      for (const a of ["2", "3"]) {
        await stack.switchTo({ ...less, "other/a": a }, { live: ["other/"] });
      }
      assert.equal(await stack.text("data/plain"), undefined);
      await stack.switchTo(tracked);
      assert.equal(await stack.text("data/db"), "rows");
      assert.equal(await stack.text("data/plain"), "1");
    });
  }

  test("replaces what only a container made, and says so before", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/same": "1" });
    await fs.writeFile(stack.live("data/a"), "container");
    await fs.writeFile(stack.live("data/conf"), "defaults");
    await fs.writeFile(stack.live("data/alike"), "1");
    const next = { "data/a": "2", "data/same": "2", "data/conf": "2", "data/alike": "1" };
    assert.deepEqual(await stack.replaced(next), ["data/a", "data/conf"]);
    await stack.switchTo(next);
    assert.deepEqual(await stack.replaced(next), []);
    assert.equal(await stack.text("data/conf"), "2");
  });

  test("puts a file of a container back in whose place a directory came", async (stack) => {
    await stack.switchTo({ "data": "1" });
    await fs.writeFile(stack.live("data"), "container");
    const next = { "data/a": "2" };
    assert.deepEqual(await stack.replaced(next), ["data"]);
    await stack.switchTo(next);
    assert.equal(await stack.text("data/a"), "2");
    await stack.switchTo({ "data": "1" });
    assert.equal(await stack.text("data"), "container");
  });

  test("changes nothing where what only a container made is too large for a copy", async (stack) => {
    await stack.switchTo({ "data/a": "1" });
    const bytes = 64 * 1024 * 1024 + 1;
    await fs.writeFile(stack.live("data/db"), "rows");
    await fs.truncate(stack.live("data/db"), bytes);
    await assert.rejects(
      stack.switchTo({ "data/a": "2", "data/db": "seed" }, { forgets: true }),
      (error) => isStackwrightError(error, "data_dir_unusable") && /data\/db/.test(error.message),
    );
    assert.equal(await stack.text("data/a"), "1");
    assert.equal((await fs.stat(stack.live("data/db"))).size, bytes);
  });

  test("takes no pipe, link or directory of a container for a file of its own", async (stack) => {
    const first = { "data/dir": "1", "data/link": "1", "data/pipe": "1", "data/zero": "1" };
    await stack.switchTo(first);
    for (const path of Object.keys(first)) await fs.rm(stack.live(path));
    await fs.symlink("/dev/zero", stack.live("data/zero"));
    await fs.symlink(join(stack.directories.current, "data/link"), stack.live("data/link"));
    await put(stack.live("data/dir/own"), "1");
    execFileSync("mkfifo", [stack.live("data/pipe")]);
    await stack.switchTo({});
    assert.deepEqual(await systemFiles.list(stack.live("data")), ["dir", "link", "pipe", "zero"]);
  });

  test("makes a directory where upstream had a file", async (stack) => {
    await stack.switchTo({ "data": "1" });
    await stack.switchTo({}, { directories: ["data"] });
    assert.equal((await fs.stat(stack.live("data"))).isDirectory(), true);
    await stack.switchTo({ "other": "1" }, { directories: ["data"] });
    assert.equal((await fs.stat(stack.live("data"))).isDirectory(), true);
  });

  test("leaves a tree that a container puts in the place of a file to remove", async (stack) => {
    await stack.switchTo({ "data": "1", "other": "1" });
    const swap = async () => {
      await fs.rm(stack.live("data"), { recursive: true, force: true });
      await fs.mkdir(stack.live("data"));
      await fs.writeFile(stack.live("data/own"), "mine");
    };
    const remove = (how: "remove" | "removeOne") => async (place: string) => {
      if (basename(place) === "data") await swap();
      await systemFiles[how](place);
    };
    const files = { ...systemFiles, remove: remove("remove"), removeOne: remove("removeOne") };
    await stack.switchTo({ "other": "1" }, { files });
    assert.equal(await stack.text("data/own"), "mine");
  });

  test("makes files below a path where upstream had a file", async (stack) => {
    await stack.switchTo({ "data": "1" });
    await stack.switchTo({ "data/a": "1" });
    assert.equal(await stack.text("data/a"), "1");
  });

  test("puts a file in place of the empty directory that stood in for it", async (stack) => {
    await stack.switchTo({}, { directories: ["app.conf"] });
    await stack.switchTo({ "app.conf": "1" });
    assert.equal(await stack.text("app.conf"), "1");
  });

  test("fails rather than throw away what a container put where a file belongs", async (stack) => {
    await stack.switchTo({}, { directories: ["app.conf"] });
    await fs.writeFile(stack.live("app.conf/own"), "mine");
    // A container may put millions of names there, which take the runtime half a minute.
    const listed: string[] = [];
    const list = (path: string) => {
      listed.push(path);
      return systemFiles.list(path);
    };
    const files: Files = { ...systemFiles, list };
    await assert.rejects(
      stack.switchTo({ "app.conf": "1" }, { files }),
      (error) => isStackwrightError(error, "data_dir_unusable"),
    );
    assert.deepEqual(listed, []);
    assert.equal(await stack.text("app.conf/own"), "mine");
  });

  test("ends where it should when it is repeated after it broke off anywhere", async (stack) => {
    const first = { "data/a": "1", "data/b": "1", "data/gone": "1" };
    const second = { "data/a": "2", "data/b": "2", "data/new": { link: "a" } };
    await stack.switchTo(first);
    await fs.writeFile(stack.live("data/own"), "mine");
    let breaks = 0;
    for (let allowed = 0;; allowed++) {
      const files = breakingAfter(allowed);
      const broke = await stack.switchTo(second, { directories: ["out"], files }).then(
        () => false,
        (error) => isStackwrightError(error, "data_dir_unusable"),
      );
      if (!broke) break;
      breaks++;
      const leadsTo = await fs.readlink(stack.directories.current);
      assert.equal(leadsTo, "../../../trees/0", "current moves last");
    }
    assert.ok(breaks >= 5, `it broke off ${breaks} times`);
    assert.equal(await stack.text("data/a"), "2");
    assert.equal(await stack.text("data/b"), "2");
    assert.equal(await stack.text("data/gone"), undefined);
    assert.equal(await fs.readlink(stack.live("data/new")), "a");
    assert.equal(await stack.text("data/own"), "mine");
    assert.deepEqual((await fs.readdir(stack.live("data"))).sort(), ["a", "b", "new", "own"]);
  });

  test("keeps the inode of a file, which mounts of single files hold, and its new mode", async (stack) => {
    await stack.switchTo({ "app.conf": "one" });
    const before = await fs.stat(stack.live("app.conf"));
    await stack.switchTo({ "app.conf": { text: "two", mode: 0o600 } });
    const after = await fs.stat(stack.live("app.conf"));
    assert.equal(await stack.text("app.conf"), "two");
    assert.deepEqual([after.ino, after.mode & 0o777], [before.ino, 0o600]);
  });

  test("writes beside a file that a container put a link in the place of, not through it", async (stack) => {
    await stack.switchTo({ "data/a.txt": "one" });
    const outside = `${stack.directories.stack}-outside`;
    await fs.writeFile(outside, "not ours");
    await fs.rm(stack.live("data/a.txt"));
    await fs.symlink(outside, stack.live("data/a.txt"));
    await stack.switchTo({ "data/a.txt": "two" });
    assert.equal(await stack.text("data/a.txt"), "two");
    assert.equal(await fs.readFile(outside, "utf8"), "not ours");
  });

  for (
    const [what, target] of [["directory", "/tmp"], [
      "path that is not there",
      "/nowhere/at",
    ]] as const
  ) {
    test(`refuses to follow a link to a ${what} in the place of a directory`, async (stack) => {
      await stack.switchTo({ "data/sub/a.txt": "one" });
      await fs.rm(stack.live("data/sub"), { recursive: true });
      await fs.symlink(target, stack.live("data/sub"));
      await assert.rejects(
        stack.switchTo({ "data/sub/a.txt": "two" }),
        (error) => isStackwrightError(error, "path_escapes") && /data\/sub/.test(error.message),
      );
    });
  }
});

describe("StackFiles.switchTo() while a container swaps a directory for a link", () => {
  const OUTSIDE = { "a.txt": "not ours", "sub/b.txt": "not ours", "sub/old.txt": "not ours" };
  for (const swapped of ["data", "data/sub"]) {
    test(`${swapped}, at any moment: nothing outside is written or removed`, async (stack) => {
      let swaps = 0;
      for (let after = 0;; after++) {
        await stack.switchTo({
          "data/a.txt": "one",
          "data/sub/b.txt": "b",
          "data/sub/old.txt": "",
        });
        const outside = `${stack.directories.stack}-outside`;
        for (const [path, text] of Object.entries(OUTSIDE)) await put(join(outside, path), text);
        let swap: Promise<void> | undefined;
        const files = interrupted(after, () => swap ??= swapFor(stack.live(swapped), outside));
        const next = { "data/a.txt": "two", "data/sub/b.txt": "two", "data/sub/new.txt": "new" };
        await stack.switchTo(next, { files, directories: ["data/sub/made"] }).catch((error) => {
          assert.ok(isStackwrightError(error), String(error));
        });
        assert.deepEqual(await textsBelow(outside), OUTSIDE);
        await fs.rm(stack.live("data"), { recursive: true, force: true });
        if (swap === undefined) break;
        swaps++;
      }
      assert.ok(swaps > 20, `it was swapped at ${swaps} moments`);
    });
  }

  test("a link that stays inside is followed, one out of it is not", async (stack) => {
    await stack.switchTo({ "data/real/a.txt": "one" });
    await fs.rename(stack.live("data/real"), stack.live("data/moved"));
    await fs.symlink("../data/moved", stack.live("data/real"));
    await stack.switchTo({ "data/real/a.txt": "two" });
    assert.equal(await stack.text("data/moved/a.txt"), "two");
    await fs.rm(stack.live("data/real"));
    await fs.symlink("../../live/data/moved", stack.live("data/real"));
    await assert.rejects(
      stack.switchTo({ "data/real/a.txt": "three" }),
      (error) => isStackwrightError(error, "path_escapes"),
    );
    assert.equal(await stack.text("data/moved/a.txt"), "two");
  });
});

/** Moves a directory away and puts a link in its place. */
async function swapFor(directory: string, target: string): Promise<void> {
  await fs.rename(directory, `${directory}-moved-${Math.random()}`);
  await fs.symlink(target, directory);
}

/** The real disk, on which something else happens just before the call after `count` others. */
function interrupted(count: number, happens: () => Promise<void>): Files {
  let left = count;
  const names = Object.keys(systemFiles) as (keyof Files)[];
  const call = (name: keyof Files) => async (...args: unknown[]) => {
    if (left-- <= 0) await happens();
    return await (systemFiles[name] as (...args: unknown[]) => Promise<unknown>)(...args);
  };
  const calls = Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as Files;
  return {
    ...calls,
    async *readInPieces(path) {
      if (left-- <= 0) await happens();
      yield* systemFiles.readInPieces(path);
    },
  };
}

async function textsBelow(root: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const each of await fs.readdir(join(root, below), { withFileTypes: true })) {
    const path = join(below, each.name);
    if (each.isDirectory()) Object.assign(found, await textsBelow(root, path));
    else found[path] = await fs.readFile(join(root, path), "utf8");
  }
  return found;
}

/** The real disk until `allowed` changes were made; then every change is refused. */
function breakingAfter(allowed: number): Files {
  let left = allowed;
  const guarded = <A extends unknown[]>(change: (...args: A) => Promise<void>) => (...args: A) => {
    if (left-- <= 0) return Promise.reject(new Error("ENOSPC: no space left on device"));
    return change(...args);
  };
  return {
    ...systemFiles,
    write: guarded(systemFiles.write),
    remove: guarded(systemFiles.remove),
    replaceLink: guarded(systemFiles.replaceLink),
    makeDirectory: guarded(systemFiles.makeDirectory),
  };
}

describe("StackFiles.show()", () => {
  const release = (files: Record<string, string>) => ({
    live: { files, directories: [] },
    services: [],
  });

  test("tells what lies on disk, whatever is said to be deployed", async (stack) => {
    const files = new StackFiles(systemFiles, stack.directories);
    assert.equal(await files.show(release({ "data/a": JSON.stringify("1") })), true, "unknown");
    await stack.switchTo({ "data/a": "1" });
    assert.equal(await files.show(release({ "data/a": JSON.stringify("1") })), true);
    assert.equal(await files.show(release({ "data/a": JSON.stringify("2") })), false);
    await systemFiles.replaceLink("elsewhere", stack.directories.current);
    assert.equal(await files.show(release({ "data/a": JSON.stringify("1") })), false);
  });

  test("after a switch that broke off, is none; what it left is put right all the same", async (stack) => {
    await stack.switchTo({ "data/a": "1", "data/b": "1" });
    await fs.writeFile(stack.live("data/b"), "container");
    let breaks = 0;
    for (let allowed = 1;; allowed++) {
      const before = { "data/a": JSON.stringify("1"), "data/b": JSON.stringify("1") };
      const files = breakingAfter(allowed);
      const next = { "data/a": "2", "data/b": "1", "data/new": "2" };
      const broke = await stack.switchTo(next, { files, forgets: true }).then(
        () => false,
        () => true,
      );
      if (!broke) break;
      breaks++;
      const now = new StackFiles(systemFiles, stack.directories);
      // The first change but one is the note that something will be changed.
      assert.equal(await now.show(release(before)), allowed === 1, `after ${allowed} changes`);
      // Whoever comes next believes that the first release lies there.
      await stack.switchTo({ "data/a": "1", "data/b": "1" }, { forgets: true });
      assert.equal(await now.show(release(before)), true);
      const texts = await Promise.all(
        ["data/a", "data/b", "data/new"].map((path) => stack.text(path)),
      );
      assert.deepEqual(texts, ["1", "container", undefined]);
    }
    assert.ok(breaks > 3, `it broke off ${breaks} times`);
  });
});

describe("stackDirectories()", () => {
  it("keeps the same name on two contexts apart", () => {
    const [a, b] = [stackKey("", "shop"), stackKey("other", "shop")];
    assert.equal(stackDirectories("/d", a).current, "/d/releases/default/shop/current");
    assert.equal(stackDirectories("/d", b).live, "/d/releases/other/shop/live");
  });
});
