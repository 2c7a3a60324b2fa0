import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLocate } from "../../../../src/trigger/mod.ts";

/** A locator that notes which URLs it was asked about. */
function createNoting() {
  const asked: string[] = [];
  const locate = createLocate({
    rewrite: (url) => {
      asked.push(url);
      return undefined;
    },
    allowLocal: false,
    nameOf: (url) => url.replace("https://", ""),
    hasSshKey: () => true,
    agree: () => true,
    configured: () => undefined,
  });
  return {
    asked,
    at: (cloneUrl: string, sshUrl = "") => locate({ fullName: "", cloneUrl, sshUrl }),
  };
}

describe("createLocate()", () => {
  it("looks once at each repository", () => {
    const { asked, at } = createNoting();
    const [one, other, again] = ["https://h/a", "https://h/b", "https://h/a"].map((url) => at(url));
    assert.deepEqual([one?.identity, other?.identity], ["h/a", "h/b"]);
    assert.equal(again, one);
    assert.deepEqual(asked, ["https://h/a", "https://h/b"]);
  });

  it("tells repositories apart by each of their URLs", () => {
    const { at } = createNoting();
    const urls = ["https://h/a", "https://h/a"].map((url, index) => at(url, `git@h:${index}`).url);
    assert.deepEqual(urls, ["git@h:0", "git@h:1"]);
  });

  it("refuses again what it refused", () => {
    const { asked, at } = createNoting();
    for (const _ of [1, 2]) assert.throws(() => at("/srv/git/x"), { code: "forbidden" });
    assert.equal(asked.length, 2);
  });

  it("forgets, rather than grow with every name that somebody thinks of", () => {
    const { asked, at } = createNoting();
    for (let number = 0; number < 1001; number++) at(`https://h/${number}`);
    at("https://h/1000");
    assert.equal(asked.length, 1001, "the newest are remembered");
    at("https://h/0");
    assert.equal(asked.length, 1002, "the oldest are not");
  });
});
