import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSubmoduleConfig, submoduleUrl } from "../../../src/source/gitmodules.ts";
import { parseRepositoryUrl } from "../../../src/source/repository_url.ts";

const resolve = (url: string, parent: string) =>
  submoduleUrl(url, parseRepositoryUrl(parent)).remote;

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
      ["/srv/z", "/srv/a", "/srv/z"],
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
    ] as const
  ) {
    it(`refuses ${JSON.stringify(url)} of ${parent}`, () => {
      assert.throws(() => resolve(url, parent), { code: "bad_request" });
    });
  }
});
