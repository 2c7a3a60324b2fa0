import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Revision } from "../../../src/model/mod.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";

describe("GitSource reading", () => {
  let t: TestSource;
  let repository: FakeRepository;
  let revision: Revision;

  const text = async (path: string) => {
    const bytes = await t.source.read(revision, path, never(), 1 << 24);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };

  beforeEach(async () => {
    t = await createTestSource();
    repository = await createRepository(join(t.directory, "remote"));
    await repository.commit({
      "compose.yaml": "services: {}\n",
      "empty": "",
      "a b/ü\nline.txt": "odd name\n",
      "bin/run": { executable: "#!/bin/sh\n" },
      "link": { link: "compose.yaml" },
      "dirlink": { link: "bin" },
      "-dash": "dash\n",
      ":(glob)*": "magic\n",
    });
    revision = await t.resolve(repository.url, "main");
  });
  afterEach(() => t.close());

  it("read() returns the bytes of files, whatever their name", async () => {
    assert.equal(await text("compose.yaml"), "services: {}\n");
    assert.equal(await text("./compose.yaml"), "services: {}\n");
    assert.equal(await text("empty"), "");
    assert.equal(await text("a b/ü\nline.txt"), "odd name\n");
    assert.equal(await text("-dash"), "dash\n");
    assert.equal(await text(":(glob)*"), "magic\n");
    assert.equal(await text("bin/run"), "#!/bin/sh\n");
  });

  it("read() has nothing for directories, links, missing and escaping paths", async () => {
    for (const path of ["bin", ".", "link", "dirlink/run", "nope", "bin/nope", "../x", "empty/x"]) {
      assert.equal(await text(path), undefined, path);
    }
  });

  it("read() starts one program for many files", async () => {
    const before = t.commands.length;
    await Promise.all(Array.from({ length: 50 }, () => text("compose.yaml")));
    assert.ok(t.commands.length <= before + 1);
  });

  it("read() refuses a file beyond a bound by its size, and reads none of it", async () => {
    await repository.commit({ big: "x".repeat(100_000), small: "small" });
    revision = await t.resolve(repository.url, "main");
    const before = t.commands.length;
    const read = (path: string, most: number) => t.source.read(revision, path, never(), most);
    const files = ["big", "big", "big", "compose.yaml", "nope"];
    const all = Promise.allSettled(files.map((path) => read(path, 99_999)));
    const [first, , , compose, nope] = await all;
    const refused = { code: "config_invalid", message: /big has 100000 bytes, the most .* 99999/ };
    assert.equal(first?.status, "rejected");
    await assert.rejects(read("big", 99_999), refused);
    assert.equal(compose?.status, "fulfilled");
    assert.deepEqual(nope, { status: "fulfilled", value: undefined });
    assert.equal((await read("big", 100_000))?.length, 100_000);
    // The program that was asked for the sizes answers all the others.
    assert.ok(t.commands.length <= before + 1);
  });

  it("read() returns large files whole", async () => {
    const big = new Uint8Array(3_000_000).map((_, index) => index % 251);
    await repository.commit({ big });
    revision = await t.resolve(repository.url, "main");
    const read = await t.source.read(revision, "big", never(), 1 << 24);
    assert.equal(read?.length, big.length);
    assert.ok(read?.every((byte, index) => byte === index % 251));
  });

  it("read() refuses files over the limit, and goes on with others", async () => {
    await t.close();
    t = await createTestSource({ options: { largestFile: 1000 } });
    repository = await createRepository(join(t.directory, "remote"));
    await repository.commit({ big: "x".repeat(100_000), small: "small" });
    revision = await t.resolve(repository.url, "main");
    await assert.rejects(text("big"), { code: "source_invalid", message: /100000 bytes/ });
    assert.equal(await text("small"), "small");
  });

  it("entries() tells kinds, equal content by equal id, and leaves out what is missing", async () => {
    const found = await t.source.entries(
      revision,
      [".", "bin", "bin/run", "link", "compose.yaml", "nope"],
      never(),
    );
    const kinds = [...found].map(([path, { kind }]) => [path, kind]);
    assert.deepEqual(kinds, [
      [".", "directory"],
      ["bin", "directory"],
      ["bin/run", "executable"],
      ["link", "symlink"],
      ["compose.yaml", "file"],
    ]);
    await repository.commit({ "copy.yaml": "services: {}\n" });
    const next = await t.resolve(repository.url, "main");
    const later = await t.source.entries(next, [".", "bin", "copy.yaml"], never());
    assert.equal(later.get("bin")?.id, found.get("bin")?.id);
    assert.equal(later.get("copy.yaml")?.id, found.get("compose.yaml")?.id);
    assert.notEqual(later.get(".")?.id, found.get(".")?.id);
  });

  it("list() of a directory needs no program where the whole tree was listed", async () => {
    const list = async (path: string) => [...await t.source.list(revision, path, never())];
    const asked = await list("bin");
    await t.source.materialise(revision, never());
    const before = t.commands.length;
    for (const path of ["bin", "./bin/", "bin/."]) assert.deepEqual(await list(path), asked, path);
    assert.equal(t.commands.length, before);
  });

  it("list() names everything at or below a path, from the root", async () => {
    const all = await t.source.list(revision, ".", never());
    assert.deepEqual([...all.keys()].sort(), [
      "-dash",
      ":(glob)*",
      "a b/ü\nline.txt",
      "bin/run",
      "compose.yaml",
      "dirlink",
      "empty",
      "link",
    ]);
    assert.deepEqual([...(await t.source.list(revision, "bin", never())).keys()], ["bin/run"]);
    assert.deepEqual([...(await t.source.list(revision, "link", never())).keys()], ["link"]);
    assert.equal((await t.source.list(revision, "nope", never())).size, 0);
  });

  it("goes on reading after the program died, and after close()", async () => {
    await text("compose.yaml");
    await t.source.close();
    assert.equal(await text("compose.yaml"), "services: {}\n");
    await t.source.close();
    await t.source.close();
  });

  describe("from a damaged mirror", () => {
    const mirror = () => t.mirror(repository.url);

    it("fetches everything anew when the mirror is gone", async () => {
      rmSync(mirror(), { recursive: true });
      assert.equal(await text("compose.yaml"), "services: {}\n");
    });

    it("makes the mirror anew when its packs are garbage, and keeps the trees", async () => {
      const tree = await t.source.materialise(revision, never());
      const packs = join(mirror(), "objects", "pack");
      for (const name of readdirSync(packs)) {
        chmodSync(join(packs, name), 0o644);
        writeFileSync(join(packs, name), "garbage");
      }
      t = t.again();
      assert.equal(await text("compose.yaml"), "services: {}\n");
      assert.ok(readdirSync(tree).includes("compose.yaml"));
      assert.deepEqual(readdirSync(join(mirror(), "..")), [basename(mirror())]);
    });

    it("repairs it also while resolving", async () => {
      for (const name of ["HEAD", "config"]) writeFileSync(join(mirror(), name), "garbage");
      t = t.again();
      const second = await repository.commit({ "compose.yaml": "x: 1\n" });
      revision = await t.resolve(repository.url, "main");
      assert.equal(revision.id, second);
      assert.equal(await text("compose.yaml"), "x: 1\n");
    });

    it("finds one damaged byte in a pack when a fetch fails for it", async () => {
      const lines = Array.from({ length: 5000 }, (_, at) => `${at * at}\n`).join("");
      await repository.commit({ "lines.txt": lines });
      await t.resolve(repository.url, "main");
      const packs = join(mirror(), "objects", "pack");
      for (const name of readdirSync(packs).filter((each) => each.endsWith(".pack"))) {
        const bytes = readFileSync(join(packs, name));
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
        chmodSync(join(packs, name), 0o644);
        writeFileSync(join(packs, name), bytes);
      }
      t = t.again();
      const next = await repository.commit({ "lines.txt": `${lines}more\n` });
      revision = await t.resolve(repository.url, "main");
      assert.equal(revision.id, next);
      assert.equal(await text("lines.txt"), `${lines}more\n`);
      assert.equal(t.warnings.length, 1);
    });

    it("does not fetch everything anew at each poll when that does not help", async () => {
      for (const name of ["HEAD", "config"]) writeFileSync(join(mirror(), name), "garbage");
      const blob = await repository.git("rev-parse", "HEAD:compose.yaml");
      rmSync(join(repository.path, "objects", blob.slice(0, 2), blob.slice(2)));
      t = t.again();
      await assert.rejects(t.resolve(repository.url, "main"), { code: "source_invalid" });
      const again = {
        code: "source_invalid",
        message: /was fetched anew not long ago; .* after 2/,
      };
      await assert.rejects(t.resolve(repository.url, "main"), again);
      await assert.rejects(text("compose.yaml"), again);
      assert.equal(t.warnings.length, 1);
    });

    it("keeps the damaged mirror when the remote is away, and says why", async () => {
      rmSync(join(mirror(), "objects"), { recursive: true });
      rmSync(repository.path, { recursive: true });
      t = t.again();
      await assert.rejects(text("compose.yaml"), { code: "repository_unreachable" });
      assert.ok(readdirSync(mirror()).includes("HEAD"));
    });
  });
});
