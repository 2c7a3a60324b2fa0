import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GitInvocation } from "../../../../src/source/git/git_command.ts";
import type { Mirror } from "../../../../src/source/git/mirror.ts";
import { TreeCache } from "../../../../src/source/git/tree_cache.ts";
import { TreeListings } from "../../../../src/source/git/tree_listings.ts";
import { errors } from "../../../../src/model/mod.ts";

const NEVER = new AbortController().signal;
const TREE = "a".repeat(40);

describe("TreeListings.list()", () => {
  const ends = {
    // Signal 24: billions of directories, and no file in them that would be printed.
    "takes too long": () => ({ code: 152, stdout: new Uint8Array(), stderr: "", failure: "other" }),
    "prints too much": () => {
      throw errors.payload_too_large("it printed more than 1 bytes");
    },
  };
  for (const [how, end] of Object.entries(ends)) {
    it(`refuses a tree for which git ${how}, and asks no second time`, async () => {
      const asked: GitInvocation[] = [];
      const run = (invocation: GitInvocation) => {
        asked.push(invocation);
        return Promise.resolve().then(end);
      };
      const listings = new TreeListings(
        { run } as unknown as Mirror,
        new TreeCache<never>().part(),
      );
      const refused = {
        code: "source_invalid",
        message: /^the tree has more than 200000 files and directories/,
      };
      await assert.rejects(listings.list(TREE, NEVER), refused);
      await assert.rejects(listings.list(TREE, NEVER), refused);
      assert.deepEqual(asked.map(({ mostProcessorSeconds }) => mostProcessorSeconds), [20]);
      listings.forget();
      await assert.rejects(listings.list(TREE, NEVER), refused);
      assert.equal(asked.length, 2);
    });
  }
});
