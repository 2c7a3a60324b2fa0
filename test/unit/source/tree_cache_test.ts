import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TreeCache } from "../../../src/source/git/tree_cache.ts";

const tree = (size: number) => new Map(Array.from({ length: size }, (_, at) => [`f${at}`, at]));

describe("TreeCache", () => {
  it("holds so many entries of all repositories together, the newest ones", () => {
    const cache = new TreeCache<number>(100);
    const parts = Array.from({ length: 50 }, () => cache.part());
    for (const part of parts) part.keep("id", tree(29));
    const known = parts.map((part) => part.get("id") !== undefined);
    assert.deepEqual(known.map((each, at) => each ? at : -1).filter((at) => at >= 0), [47, 48, 49]);
  });

  it("counts trees without entries, and one that is kept again only once", () => {
    const cache = new TreeCache<number>(10);
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
    const cache = new TreeCache<number>(10);
    const [one, other] = [cache.part(), cache.part()];
    one.keep("id", tree(1));
    other.keep("id", tree(2));
    one.forget();
    assert.deepEqual([one.get("id"), other.get("id")?.size], [undefined, 2]);
    one.keep("id", tree(7));
    assert.deepEqual([one.get("id")?.size, other.get("id")], [7, undefined]);
  });
});
