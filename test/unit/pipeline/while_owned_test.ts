import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  formatStackKey,
  type StackKey,
  stackKey,
  type StackOwner,
} from "../../../src/model/mod.ts";
import { lockedForTarget, type PipelineParts, whileOwned } from "../../../src/pipeline/mod.ts";
import type { Target } from "../../../src/prepare/mod.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const KEY = stackKey("", "shop");
const [A, B] = ["a", "b"].map((name): StackOwner => ({
  source: `host/${name}/shop`,
  reference: "refs/heads/main",
})) as [StackOwner, StackOwner];
const { signal } = new AbortController();

/** A stack of A's by two contexts of one engine. */
function createHouse() {
  const ledger = createMemoryLedger(createFakeClock());
  const alias = stackKey("alias", KEY.name);
  for (const key of [KEY, alias]) {
    ledger.owners.noteEngine(key.context, { id: "one", cluster: "" });
    ledger.owners.settle(key, A);
  }
  const stackLock = createWatchedLock();
  const parts = { ledger, stackLock } as unknown as PipelineParts;
  /** Work that does not end by itself; resolves to what ended it. */
  const endless = (key: StackKey, owner: StackOwner, isDone: Promise<unknown>) =>
    whileOwned(
      parts,
      { keys: [key], owners: [owner] },
      (within) =>
        new Promise<string>((resolve, reject) => {
          within.addEventListener("abort", () => reject(within.reason));
          void isDone.then(() => resolve("done"));
        }),
      signal,
    ).catch((error: Error) => error.message);
  const deploy = (key: StackKey, owner: StackOwner) => {
    const configuration = { source: { name: owner.source }, reference: owner.reference };
    const asked = { key, configuration, revision: { id: "1" }, origin: "automatic" };
    const target = asked as unknown as Target;
    const before = () => Promise.resolve();
    return lockedForTarget(parts, target, { before, work: () => Promise.resolve() }, signal);
  };
  return { ledger, alias, stackLock, endless, deploy };
}

describe("lockedForTarget()", () => {
  it("ends former owners' work alone, by whichever context of the engine", async () => {
    const { ledger, alias, endless, deploy } = createHouse();
    const end = Promise.withResolvers<void>();
    const [own, theirs] = [endless(KEY, A, end.promise), endless(alias, A, end.promise)];
    await deploy(KEY, A);
    ledger.handOver(KEY, B);
    const heirs = endless(alias, B, end.promise);
    await deploy(KEY, A);
    const isLeft = await Promise.race([own, theirs, Promise.resolve("goes on")]);
    assert.equal(isLeft, "goes on");
    await deploy(KEY, B);
    for (const ended of [own, theirs]) {
      assert.match(await ended, /^shop was handed over to host\/b\/shop \(refs\/heads\/main\): /);
    }
    end.resolve();
    assert.equal(await heirs, "done");
  });

  it("refuses a stranger at once while somebody is at work, and records that", async () => {
    const { ledger, stackLock, deploy } = createHouse();
    const end = Promise.withResolvers<void>();
    const held = stackLock.run(formatStackKey(KEY), () => end.promise, signal);
    await assert.rejects(deploy(KEY, B), { code: "conflict" });
    assert.deepEqual(ledger.owners.refused(KEY), [B]);
    end.resolve();
    await held;
    // Its own look at the stack refuses it then.
    await deploy(KEY, B);
  });

  it("has a stranger wait while the stack is being destroyed", async () => {
    const { ledger, stackLock, deploy } = createHouse();
    const end = Promise.withResolvers<void>();
    const held = stackLock.run(formatStackKey(KEY), () => end.promise, signal);
    ledger.destroyed(ledger.beginDestroy(stackKey("", "other"), {}), "");
    ledger.beginDestroy(KEY, {});
    const deployed = deploy(KEY, B);
    end.resolve();
    await Promise.all([held, deployed]);
    assert.deepEqual(ledger.owners.refused(KEY), []);
  });
});
