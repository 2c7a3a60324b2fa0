import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lendingLock, type PipelineParts } from "../../../src/pipeline/mod.ts";
import {
  createLimiter,
  createWatchedLock,
  type Lend,
  Shares,
  type Slot,
} from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const signal = new AbortController().signal;
const holder = { repository: "acme/shop" };
const LONG_MS = 60_000;

/** A stack's lock, work in turn that waits for others with it, and whether somebody else has had the stack. */
function world() {
  const clock = createFakeClock();
  const preparing = createLimiter(1);
  const parts = {
    ...{ clock, preparing, shares: new Shares(clock, 4), source: {}, turns: { by: () => ({}) } },
    meter: { move: () => {}, observe: () => {} },
    host: { images: {}, compose: { lending: () => ({}) } },
  } as unknown as PipelineParts;
  const lock = createWatchedLock();
  let had = false;
  const work = (
    decide: (lend: Lend) => Promise<unknown>,
    { isLent = true, then = () => {} }: { isLent?: boolean; then?: () => unknown } = {},
  ) =>
    lock.inTurn(
      "shop",
      async (slot: Slot) => {
        const lent = { holder, lock: isLent ? slot : undefined };
        await lendingLock(parts, lent, ({ lend }) => decide(lend!), signal);
        await then();
      },
      signal,
      {},
    );
  const other = () => lock.run("shop", () => Promise.resolve(had = true), signal);
  return { clock, preparing, work, other, had: () => had };
}

describe("lendingLock()", () => {
  it("lends the stack while others are waited for, and has it again after it", async () => {
    const { clock, work, other, had } = world();
    const [waits, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = work((lend) => lend(["registry"], () => waits.promise), {
      then: () => ends.promise,
    });
    await settle();
    const before = other();
    await settle();
    assert.equal(had(), false, "what is short is not worth it");
    await clock.advance(LONG_MS);
    await before;
    waits.resolve();
    await settle();
    let isIn = false;
    const after = other().then(() => isIn = true);
    await settle();
    assert.equal(isIn, false);
    ends.resolve();
    await Promise.all([done, after]);
  });

  it("keeps a stack that is not lent", async () => {
    const { clock, work, other, had } = world();
    const waits = Promise.withResolvers<void>();
    const done = work((lend) => lend(["registry"], () => waits.promise), { isLent: false });
    await settle();
    const before = other();
    await clock.advance(LONG_MS);
    assert.equal(had(), false);
    waits.resolve();
    await Promise.all([done, before]);
  });

  it("has the stack again although a part of its work still waits, which lends it no more", async () => {
    const { clock, work, other, had } = world();
    const [slow, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = work((lend) => {
      lend(["registry"], () => slow.promise).catch(() => {});
      return Promise.resolve();
    }, { then: () => ends.promise });
    await settle();
    const before = other();
    await clock.advance(LONG_MS);
    assert.equal(had(), false);
    slow.resolve();
    await settle();
    assert.equal(had(), false);
    ends.resolve();
    await Promise.all([done, before]);
  });

  it("waits for the stack without a slot", async () => {
    const { clock, preparing, work, other } = world();
    const waits = Promise.withResolvers<void>();
    const done = work((lend) => lend(["registry"], () => waits.promise));
    await settle();
    await clock.advance(LONG_MS);
    await other();
    waits.resolve();
    assert.equal(await preparing.run(() => Promise.resolve("others"), signal), "others");
    await done;
  });
});
