import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyPatch } from "diff";
import { plannedDiff, unifiedDiff } from "../../../src/api/unified_diff.ts";

const lines = (count: number, word: string) =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");

describe("unifiedDiff()", () => {
  it("is empty for what is equal, and shows three lines around what is not", () => {
    assert.equal(unifiedDiff("a", "b", "same\n", "same\n"), "");
    const around = lines(5, "same");
    assert.equal(
      unifiedDiff("a", "b", `${around}old\n${around}`, `${around}new\n${around}`),
      "--- a\n+++ b\n@@ -3,7 +3,7 @@\n same 2\n same 3\n same 4\n-old\n+new\n same 0\n same 1\n same 2\n",
    );
  });

  it("shows a stretch with thousands of other lines as a whole, and it still applies", () => {
    const texts = ["", lines(1100, "one"), `${lines(1200, "two")}end`];
    for (const before of texts) {
      for (const after of texts.filter((each) => each !== before)) {
        for (const around of ["", lines(2, "same"), lines(9, "same")]) {
          const [old, now] = [around + before + around, around + after + around];
          const patch = unifiedDiff("a", "b", old, now);
          assert.equal(applyPatch(old, patch), now);
        }
      }
    }
  });

  it("tells right lines where the first change comes late, and reads very many in linear time", () => {
    const blank = "\n".repeat(521_000);
    const around = lines(9, "same");
    for (
      const [old, now] of [
        [`${blank}a\n${blank}`, `${blank}b\n${blank}`],
        [`a\n${blank}c\n`, `b\n${blank}d`],
        [blank, `${blank}end`],
        [`${around}a\n${around}b\n${around}`, `${around}${around}c\n${around}d\n`],
      ] as const
    ) {
      assert.equal(applyPatch(old, unifiedDiff("a", "b", old, now)), now);
    }
    const late = unifiedDiff("a", "b", `${around}old\n`, `${around}new\n`);
    assert.match(late, /^--- a\n\+\+\+ b\n@@ -7,4 \+7,4 @@\n same 6\n/);
  });

  it("keeps what other ends of lines stand in, however long it is", () => {
    // A line that was looked for from each of its places took a minute.
    const long = `${"a".repeat(20_000)}\u2028b\rc\n`;
    const [before, after] = [lines(1100, "one") + long, long + lines(1100, "two")];
    const patch = unifiedDiff("a", "b", before, after);
    assert.equal(patch.split("\n").filter((line) => line.slice(1) === long.trimEnd()).length, 2);
  });

  it("does not look for the fewest lines of thousands that differ", () => {
    const before = lines(5000, "old");
    const after = before.replaceAll(/old (\d*[05])\n/g, "new $1\n");
    const patch = unifiedDiff("a", "b", before, after);
    assert.equal(patch.match(/^@@/gm)?.length, 1);
    assert.equal(patch.match(/^-old/gm)?.length, 4996);
  });
});

describe("plannedDiff()", () => {
  it("has models as their author would write them, and nothing of what is only added to them", () => {
    const model = (digest: string, image: string) =>
      JSON.stringify({
        services: {
          web: {
            command: null,
            image,
            labels: { "com.docker.swarm.service.id": "", ...labels(digest) },
          },
        },
      });
    const labels = (digest: string) => ({ "stackwright.digest": digest });
    assert.equal(plannedDiff({ before: model("a", "web:1"), after: model("b", "web:1") }), "");
    assert.equal(
      plannedDiff({ before: model("a", "web:1"), after: model("b", "web:2") }),
      "--- deployed\n+++ planned\n@@ -1,3 +1,3 @@\n services:\n   web:\n" +
        "-    image: web:1\n+    image: web:2\n",
    );
  });
});
