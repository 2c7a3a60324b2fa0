import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { compactMirrors } from "../../../src/source/mod.ts";
import { type Meter, noMeter } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import { createTestSource, never, type TestSource } from "../../fakes/git_source.ts";

describe("GitSource.mirrors", () => {
  let t: TestSource;
  let repository: FakeRepository;
  const text = () => randomBytes(20_000).toString("base64");
  const packs = (path: string) =>
    readdirSync(join(path, "objects", "pack")).filter((each) => each.endsWith(".pack"));
  const work = (mode: "repack" | "copy", maxBytes = 0, name = "") => ({
    mode,
    maxBytes,
    repository: name,
  });
  const told: string[] = [];
  const reporter = {
    describe: ({ message }: { readonly message?: string }) => {
      if (message !== undefined) told.push(message);
    },
  };
  const results: string[] = [];
  const meter: Meter = {
    ...noMeter,
    count: (name, labels) => void results.push(JSON.stringify([name, labels])),
  };
  const by = { reporter, meter, clock: createFakeClock() };
  const run = (...wish: Parameters<typeof work>) =>
    compactMirrors(t.source.mirrors, work(...wish), by, never());

  beforeEach(async () => {
    told.length = 0;
    results.length = 0;
    t = await createTestSource();
    repository = await createRepository(join(t.directory, "remote"));
    // Each fetch is a pack, and what is alike in two of them is in both.
    const long = text();
    for (let index = 0; index < 4; index++) {
      await repository.commit({ "a.txt": `${index}\n${long}`, "b.txt": `${index}\n` });
      await t.resolve(repository.url, "main");
    }
  });
  afterEach(() => t.close());

  it("are listed with the repository that they are of", async () => {
    const { source } = await t.resolve(repository.url, "main");
    const [mirror, ...more] = await t.source.mirrors.list();
    assert.deepEqual([mirror?.repository, more], [source.name, []]);
    assert.ok(packs(mirror?.path ?? "").length >= 4);
  });

  for (const mode of ["copy", "repack"] as const) {
    it(`${mode} leaves one pack with all that was there, also what no branch has any more`, async () => {
      const old = await t.resolve(repository.url, "main");
      await repository.git("reset", "--hard", "HEAD~2");
      await repository.commit({ "c.txt": "another history\n" });
      const now = await t.resolve(repository.url, "main");
      const end = await run(mode);
      assert.equal(end.status, "succeeded");
      const command = t.commands.find(({ argv }) => argv.includes("repack"));
      assert.ok(command?.argv.some((each) => /^pack\.windowMemory=\d+$/.test(each)));
      assert.ok(command?.argv.some((each) => /^pack\.threads=[1-4]$/.test(each)));
      assert.equal(command?.mostMemory, 2 * 1024 ** 3);
      const sizes = /packfiles [\d.]+ \S+ -> [\d.]+ \S+$/;
      assert.match(end.message, new RegExp(`^${mode} of 1 mirror: 1 compacted; ${sizes.source}`));
      assert.deepEqual(told, [`${mode} of ${now.source.name}`]);
      const labels = { repository: now.source.name, mode, result: "compacted" };
      assert.deepEqual(results, [JSON.stringify(["git_mirror_compactions_total", labels])]);
      const [mirror] = await t.source.mirrors.list();
      assert.equal(packs(mirror?.path ?? "").length, 1);
      const read = async (revision: typeof old, path: string) =>
        new TextDecoder().decode(await t.source.read(revision, path, never(), 1 << 24));
      assert.equal(await read(old, "b.txt"), "3\n");
      assert.equal(await read(now, "c.txt"), "another history\n");
      await repository.commit({ "c.txt": "goes on\n" });
      assert.equal(await read(await t.resolve(repository.url, "main"), "c.txt"), "goes on\n");
    });
  }

  it("leave alone what is too large, what is one pack, and who is not asked for", async () => {
    assert.match((await run("repack", 1)).message, /^repack of 1 mirror: 1 skipped_size; /);
    const { source } = await t.resolve(repository.url, "main");
    assert.equal((await run("copy", 1, source.name)).status, "succeeded");
    const again = await run("copy");
    assert.equal(again.status, "skipped");
    assert.match(again.message, /^copy of 1 mirror: 1 skipped_single_pack; /);
    assert.match((await run("copy", 0, "example.org/other")).message, /^copy of 0 mirrors/);
  });

  it("are not touched once somebody has cancelled it", async () => {
    const [mirror] = await t.source.mirrors.list();
    const before = packs(mirror?.path ?? "");
    const end = await compactMirrors(
      t.source.mirrors,
      work("repack"),
      by,
      AbortSignal.abort(),
    );
    assert.deepEqual(end, {
      status: "failed",
      message: "1/1 mirror compactions failed: repack of 1 mirror: 1 cancelled",
    });
    assert.deepEqual(packs(mirror?.path ?? ""), before);
  });
});
