import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ListedEntry, parseTreeListing } from "../../../src/source/git/tree_object.ts";
import { TreeCache, weightOf } from "../../../src/source/git/tree_cache.ts";
import { heapAfterCollection } from "../../fakes/heap.ts";

const tree = (size: number) => new Map(Array.from({ length: size }, (_, at) => [`f${at}`, at]));
const MIB = 1024 * 1024;

describe("TreeCache", () => {
  it("holds so many bytes of all repositories together, the newest ones", () => {
    const cache = new TreeCache<number>(3 * weightOf(tree(29)));
    const parts = Array.from({ length: 50 }, () => cache.part());
    for (const part of parts) part.keep("id", tree(29));
    const known = parts.map((part) => part.get("id") !== undefined);
    assert.deepEqual(known.map((each, at) => each ? at : -1).filter((at) => at >= 0), [47, 48, 49]);
  });

  it("forgets those of the repository that has the most", () => {
    const cache = new TreeCache<number>(10 * weightOf(tree(5)));
    const [small, large] = [cache.part(), cache.part()];
    small.keep("small", tree(5));
    for (let at = 0; at < 100; at++) large.keep(`${at}`, tree(5));
    assert.equal(small.get("small")?.size, 5);
    assert.deepEqual([large.get("90"), large.get("91")?.size], [undefined, 5]);
  });

  it("counts trees without entries, and one that is kept again only once", () => {
    const cache = new TreeCache<number>(2 * weightOf(tree(4)));
    const part = cache.part();
    for (let time = 0; time < 20; time++) part.keep("same", tree(4));
    part.keep("other", tree(4));
    assert.deepEqual([part.get("same")?.size, part.get("other")?.size], [4, 4]);
    for (let at = 0; at < 20; at++) part.keep(`${at}`, tree(0));
    assert.deepEqual([part.get("other"), part.get("9"), part.get("10")?.size], [
      undefined,
      undefined,
      0,
    ]);
  });

  it("forgets one repository's, and no tree of another with the same id", () => {
    const cache = new TreeCache<number>(weightOf(tree(7)));
    const [one, other] = [cache.part(), cache.part()];
    one.keep("id", tree(1));
    other.keep("id", tree(2));
    one.forget();
    assert.deepEqual([one.get("id"), other.get("id")?.size], [undefined, 2]);
  });

  it("takes no more memory than it counts, of whatever shape the trees are", async () => {
    for (const [entries, length] of [[500, 2000], [5000, 8], [1, 8]] as const) {
      const cache = new TreeCache<ListedEntry>(6 * MIB);
      const part = cache.part();
      const before = await heapAfterCollection();
      const trees = Math.ceil(24 * MIB / (entries * (length + 300)));
      for (let at = 0; at < Math.min(trees, 20_000); at++) {
        const lines = Array.from({ length: entries }, (_, line) => {
          const id = `${at}`.padStart(40, "0");
          return `100644 blob ${id} 1\t${String(line).padStart(length, "x")}\0`;
        });
        part.keep(`${at}`, await parseTreeListing(new TextEncoder().encode(lines.join(""))));
      }
      const grown = await heapAfterCollection() - before;
      assert.ok(
        grown < 9 * MIB,
        `${trees} of ${entries} × ${length}: ${Math.round(grown / MIB)} MiB`,
      );
      assert.notEqual(part.get(`${Math.min(trees, 20_000) - 1}`), undefined);
    }
  });
});
