import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { FilesLookedAt } from "../../../src/prepare/files_looked_at.ts";

describe("FilesLookedAt", () => {
  it("reads a file once at each look, however many links lead to it, and sees that it changed", async () => {
    let [reads, text] = [0, "A=1"];
    const looked = new FilesLookedAt({
      realPath: () => Promise.resolve("/tree/.env"),
      stat: () =>
        Promise.resolve({ kind: "file", size: text.length, inode: 1, device: 1 } as never),
      readIfExists: () => {
        reads++;
        return Promise.resolve(Buffer.from(text));
      },
    });
    for (let at = 0; at < 20; at++) await looked.note(`/tree/${at}.env`);
    assert.equal(reads, 1);
    assert.equal(looked.states.size, 20);
    assert.equal(await looked.areSame(), true);
    assert.equal(reads, 2);
    text = "A=2";
    assert.equal(await looked.areSame(), false);
  });
});
