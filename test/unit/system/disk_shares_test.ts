import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { abortable, DiskShares } from "../../../src/system/mod.ts";

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;
const never = new AbortController().signal;

/** A disk of 100 GiB, of which 10 GiB are free; 256 MiB stay free, 2 GiB for repositories that are new. */
function disk() {
  const written = new Map<string, number>();
  const entries = { free: 5000, total: 100_000 };
  const free = () => 10 * GIB - written.values().reduce((sum, each) => sum + each, 0);
  const room = () => Promise.resolve({ free: free(), total: 100 * GIB, entries });
  const shares = new DiskShares({ room });
  /** Work that goes on, without writing anything itself, until the disk or the test ends it. */
  const fetch = (name: string, owner: string, isNew = true) => {
    const over = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const ask = { path: "/data", owner, isNew, bytes: 0 };
    const measure = () => Promise.resolve(written.get(name) ?? 0);
    const end = shares.run({ ...ask, measure }, async (within) => {
      begun.resolve();
      try {
        await abortable(over.promise, within);
      } catch (error) {
        written.delete(name);
        throw error;
      }
    }, never).then(() => `${name} is done`, ({ message }: Error) => `${name}: ${message}`);
    return { begun: begun.promise, end, finish: () => over.resolve() };
  };
  return { shares, written, fetch };
}

describe("DiskShares", () => {
  it("ends the largest work of who has written the most where the reserve is touched", async () => {
    const { written, fetch } = disk();
    const many = Array.from({ length: 4 }, (_, at) => fetch(`many ${at}`, "one with many"));
    const single = fetch("single", "another");
    await Promise.all([...many, single].map(({ begun }) => begun));
    // Each of the many has less than the single one.
    for (let at = 0; at < 4; at++) written.set(`many ${at}`, (1.1 + at / 10) * GIB);
    written.set("single", 3.5 * GIB);
    const ended = await Promise.race([...many, single].map(({ end }) => end));
    assert.match(
      ended,
      /^many 3: the disk of \/data has no space left for .* 2048 MiB stay free .* This had taken 1434 MiB, and what goes on for one with many the most/,
    );
    for (const each of [...many, single]) each.finish();
    const ends = await Promise.all([...many, single].map(({ end }) => end));
    assert.deepEqual(ends.filter((each) => each.endsWith("done")).length, 4);
  });

  it("makes room for new work where others hold all of it, without writing", async () => {
    const { written, fetch } = disk();
    // More than the reserve of a new repository is free for one that is not.
    const holders = [fetch("a", "holder", false), fetch("b", "holder", false)];
    await Promise.all(holders.map(({ begun }) => begun));
    written.set("a", 4.2 * GIB);
    written.set("b", 4.3 * GIB);
    const more = fetch("more of it", "holder");
    assert.match(await more.end, /^more of it: the disk .* no space left/);
    const other = fetch("other", "another");
    await other.begun;
    assert.match(await holders[1]?.end ?? "", /^b: .* 4403 MiB, and what goes on for holder/);
    for (const each of [...holders, other]) each.finish();
    assert.deepEqual([await holders[0]?.end, await other.end], ["a is done", "other is done"]);
  });

  it("ends nobody where what others have written is not what is missing", async () => {
    const { shares, written, fetch } = disk();
    const small = fetch("small", "one");
    await small.begun;
    written.set("small", 100 * MIB);
    const large = shares.run(
      { path: "/data", owner: "another", isNew: false, bytes: 10 * GIB },
      () => Promise.resolve(),
      never,
    );
    await assert.rejects(large, { code: "data_dir_unusable", message: /10240 MiB would be writ/ });
    small.finish();
    assert.equal(await small.end, "small is done");
  });

  it("ends who holds more than an equal share for work that wants more than that one has", async () => {
    const { shares, written, fetch } = disk();
    const held = fetch("held", "one");
    const little = fetch("little", "a third");
    await Promise.all([held.begun, little.begun]);
    written.set("held", 5 * GIB);
    written.set("little", 2 * GIB);
    const tree = { path: "/data", owner: "another", isNew: false, bytes: 7 * GIB };
    await shares.run(tree, () => Promise.resolve(), never);
    assert.match(await held.end, /^held: the disk .* 7168 MiB would be written/);
    // Whoever has no more than a share keeps it, whatever another one wants.
    const more = shares.run({ ...tree, bytes: 9 * GIB }, () => Promise.resolve(), never);
    await assert.rejects(more, { code: "data_dir_unusable" });
    little.finish();
    assert.equal(await little.end, "little is done");
  });

  it("counts work that knows its size by that, and what others lack by it", async () => {
    const { shares, written, fetch } = disk();
    const held = fetch("held", "one");
    await held.begun;
    written.set("held", 6.4 * GIB);
    const tree = { path: "/data", owner: "another", isNew: false, bytes: 3.5 * GIB };
    await shares.run(tree, () => Promise.resolve(), never);
    assert.match(await held.end, /^held: the disk .* 3584 MiB would be written/);
  });
});
