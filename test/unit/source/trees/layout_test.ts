import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLayout } from "../../../../src/source/trees/layout.ts";
import { sourceLocation } from "../../../../src/source/source_name.ts";

const layout = createLayout("/data");
const directory = (url: string) => layout.directory(sourceLocation("git", url));

describe("createLayout()", () => {
  it("puts mirrors and trees below the name of the source", () => {
    const source = sourceLocation("git", "https://github.com/o/r.git");
    const url = { remote: "https://github.com/o/r.git", user: "", password: "" };
    assert.match(
      layout.mirror(source, url),
      /^\/data\/sources\/github.com\/o\/r\/mirror\/[0-9a-f]{64}$/,
    );
    assert.match(
      layout.submodule(source, url),
      /^\/data\/sources\/github.com\/o\/r\/submodules\/[0-9a-f]{64}$/,
    );
    const revision = { source, reference: "refs/heads/main", id: "a".repeat(40) };
    assert.equal(layout.tree(revision), `/data/sources/github.com/o/r/trees/${revision.id}`);
  });

  it("keeps apart what came from different URLs of one source, and for submodules by different logins", () => {
    const source = sourceLocation("git", "https://github.com/o/r.git");
    const remotes = ["https://github.com/o/r", "http://github.com/o/r", "git@github.com:o/r"];
    const mirrors = remotes.map((remote) => layout.mirror(source, { remote }));
    const logins = [["", ""], ["ann", "1"], ["ann", "2"], ["bob", "1"]] as const;
    const submodules = remotes.flatMap((remote) =>
      logins.map(([user, password]) => layout.submodule(source, { remote, user, password }))
    );
    assert.equal(new Set([...mirrors, ...submodules]).size, (1 + logins.length) * remotes.length);
  });

  it("never puts one source inside the mirror or the trees of another", () => {
    assert.equal(directory("https://h/o/mirror"), "/data/sources/h/o/mirror%");
    assert.equal(directory("https://h/trees/submodules"), "/data/sources/h/trees%/submodules%");
    assert.notEqual(directory("https://h/o/mirror%25"), directory("https://h/o/mirror"));
  });
});
