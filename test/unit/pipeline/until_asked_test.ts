import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitsFor } from "../../../src/deploy/mod.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { untilAsked } from "../../../src/pipeline/mod.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";

const key = stackKey("default", "shop");

describe("untilAsked()", () => {
  it("ends what has not begun to change anything, and nothing else", async () => {
    const never = new AbortController().signal;
    const end = (hasBegun: boolean) => {
      const stackLock = createWatchedLock();
      const go = Promise.withResolvers<void>();
      const done = untilAsked({ stackLock }, key, async (within, begin) => {
        if (hasBegun) begin();
        await go.promise;
        within.throwIfAborted();
        return "done";
      }, never).catch(({ message }) => message);
      return stackLock.ending([waitsFor(key)], async () => {
        go.resolve();
        return await done;
      });
    };
    assert.equal(await end(true), "done");
    assert.match(await end(false), /^a person stops or removes shop: /);
  });

  it("begins nothing for whom a person waits", async () => {
    const stackLock = createWatchedLock();
    const work = untilAsked({ stackLock }, key, async (_within, begin) => {
      await stackLock.ending([waitsFor(key)], () => Promise.resolve());
      begin();
    }, new AbortController().signal);
    await assert.rejects(work, /a person stops or removes shop/);
  });
});
