import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TreeFile } from "../../../../src/source/trees/expanded_tree.ts";
import { areSimple } from "../../../../src/source/trees/write_files.ts";

const file = (size: number) => ({ kind: "file", id: "", size }) as TreeFile;

describe("areSimple()", () => {
  for (
    const path of [
      "compose.yaml",
      ".stackwright.yaml",
      "a/b/c.conf",
      "with space/file name",
      ".gitignore",
      ".gitattributes",
      "data/.gitkeep",
      "a+b=c@d,e(f)",
    ]
  ) {
    it(`areSimple() takes ${JSON.stringify(path)}`, () =>
      assert.equal(areSimple(new Map([[path, file(1)]])), true));
  }
  for (
    const path of [
      ".gitmodules",
      ".git/.gitattributes",
      "a/.GIT/config",
      "git~1",
      "a/GIT~2/x",
      ".git\u200c/x",
      "a\\b",
      "c:/x",
      "ü",
      "line\nbreak",
      "\u0007",
    ]
  ) {
    it(`areSimple() leaves ${JSON.stringify(path)} to git`, () =>
      assert.equal(areSimple(new Map([["plain", file(1)], [path, file(1)]])), false));
  }
  it("areSimple() leaves more than 4 MiB to git", () => {
    const half = 2 * 1024 * 1024;
    assert.equal(areSimple(new Map([["a", file(half)], ["b", file(half)]])), true);
    assert.equal(areSimple(new Map([["a", file(half)], ["b", file(half + 1)]])), false);
  });
});
