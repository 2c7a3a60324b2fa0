import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLayout } from "../../../../src/source/trees/layout.ts";
import { sourceLocation } from "../../../../src/source/source_name.ts";

const layout = createLayout("/data");
const directory = (url: string) => layout.directory(sourceLocation("git", url));

describe("createLayout()", () => {
  it("puts mirror and trees below the name of the source", () => {
    const source = sourceLocation("git", "https://github.com/o/r.git");
    assert.equal(layout.mirror(source), "/data/sources/github.com/o/r/mirror");
    const revision = { source, reference: "refs/heads/main", id: "a".repeat(40) };
    assert.equal(layout.tree(revision), `/data/sources/github.com/o/r/trees/${revision.id}`);
    assert.equal(layout.submodules(source), "/data/sources/github.com/o/r/submodules");
  });

  it("keeps what came by plain http apart", () => {
    const plain = sourceLocation("git", "http://github.com/o/r.git");
    assert.equal(layout.mirror(plain), "/data/sources/github.com/o/r/submodules/http");
  });

  it("never puts one source inside the mirror or the trees of another", () => {
    assert.equal(directory("https://h/o/mirror"), "/data/sources/h/o/mirror%");
    assert.equal(directory("https://h/trees/submodules"), "/data/sources/h/trees%/submodules%");
    assert.notEqual(directory("https://h/o/mirror%25"), directory("https://h/o/mirror"));
  });
});
