import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { describe, it } from "node:test";
import { parseSubmoduleConfig, submoduleUrl } from "../../../../src/source/git/gitmodules.ts";
import { parseRepositoryUrl } from "../../../../src/source/git/repository_url.ts";

/** The root is the directory of a parent on this machine, as it is for a source. */
function resolve(url: string, parent: string): string {
  const written = parseRepositoryUrl(parent);
  const root = written.scheme === "file" ? dirname(written.remote) : undefined;
  return submoduleUrl(url, written, root).remote;
}

describe("parseSubmoduleConfig()", () => {
  it("joins path and URL by name, whatever the name is", () => {
    const text = "submodule.a.b.path\nlibs/a\0submodule.a.b.url\n../a.git\0" +
      "submodule.x.url\nhttps://h/x\0submodule.y.path\ny\0core.bare\ntrue\0";
    assert.deepEqual([...parseSubmoduleConfig(text)], [["libs/a", "../a.git"]]);
  });
});

describe("submoduleUrl()", () => {
  for (
    const [url, parent, expected] of [
      ["../b.git", "https://h/o/a.git", "https://h/o/b.git"],
      ["../../p/b", "https://h/o/a", "https://h/p/b"],
      ["./b", "https://h/o/a", "https://h/o/a/b"],
      ["../b", "git@h:o/a.git", "git@h:o/b"],
      ["../b", "git@h:/srv/a.git", "git@h:/srv/b"],
      ["../b", "ssh://git@h:22/o/a", "ssh://git@h/o/b"],
      ["../b", "/srv/git/a.git", "/srv/git/b"],
      ["https://x/y/z", "/srv/a", "https://x/y/z"],
      ["../group/b", "/srv/git/a.git", "/srv/git/group/b"],
    ] as const
  ) {
    it(`${url} of ${parent} is ${expected}`, () => assert.equal(resolve(url, parent), expected));
  }

  for (
    const [url, parent] of [
      ["/etc", "https://h/o/a"],
      ["file:///etc", "https://h/o/a"],
      ["FILE:///etc", "git@h:o/a"],
      ["../../../../x", "https://h/o/a"],
      ["ext::sh -c id", "https://h/o/a"],
      ["-u./x", "https://h/o/a"],
      ["", "https://h/o/a"],
      ["/srv/z", "/srv/a"],
      ["file:///srv/z", "/srv/a"],
      ["../../other/b", "/srv/git/a.git"],
      ["../../git", "/srv/git/a.git"],
      ["./inside", "/srv/git/a.git"],
      ["../b", "/a"],
    ] as const
  ) {
    it(`refuses ${JSON.stringify(url)} of ${parent}`, () => {
      assert.throws(() => resolve(url, parent), { code: "bad_request" });
    });
  }

  it("never leaves the directory of the source, however deep submodules nest", () => {
    const middle = parseRepositoryUrl("/srv/git/group/b");
    assert.equal(submoduleUrl("../../c", middle, "/srv/git").remote, "/srv/git/c");
    assert.throws(() => submoduleUrl("../../../c", middle, "/srv/git"), { code: "bad_request" });
    assert.throws(() => submoduleUrl("../c", middle, undefined), { code: "bad_request" });
  });
});
