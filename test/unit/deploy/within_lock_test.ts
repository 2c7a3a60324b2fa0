import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitsFor, withinLock } from "../../../src/deploy/within_lock.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { createWatchedLock } from "../../../src/system/mod.ts";
import { lockParts } from "../../fakes/lock_parts.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const bounded = { key: stackKey("", "shop"), what: "project", timeoutSeconds: 5 };

/** Parts whose other process changes the stack for so many milliseconds. */
function createParts(othersMs = 0) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const begun: string[] = [];
  return {
    clock,
    stop,
    begun,
    parts: {
      ...lockParts(clock),
      stackLock: createWatchedLock(),
      othersDone: (_key: unknown, signal: AbortSignal) => clock.sleep(othersMs, signal),
      change: <T>(_key: unknown, work: (signal: AbortSignal) => Promise<T>) => {
        begun.push("change");
        return work(stop.signal);
      },
    },
  };
}

describe("withinLock()", () => {
  it("bounds the wait for other processes, and says whom it waited for", async () => {
    const { clock, parts, begun } = createParts(3_600_000);
    const end = assert.rejects(withinLock(parts, bounded, () => Promise.resolve(), never), {
      code: "timeout",
      message:
        "project shop: nothing was done: a deployment of it, a scheduled job or another action was " +
        "under way for all of the 5 s; ask again later, or with a larger timeout",
    });
    await clock.advance(5000);
    await end;
    assert.deepEqual(begun, []);
  });

  it("bounds what the work has to be ready for, which it gets", async () => {
    const { clock, parts, begun } = createParts();
    const ready = (waiting: AbortSignal) => clock.sleep(3_600_000, waiting).then(() => 7);
    const late = withinLock(parts, { ...bounded, ready }, () => Promise.resolve(), never);
    const end = assert.rejects(late, { code: "timeout" });
    await clock.advance(5000);
    await end;
    assert.deepEqual(begun, []);
    const at = { ...bounded, ready: () => Promise.resolve(7) };
    const done = withinLock(parts, at, (_, found) => Promise.resolve(found), never);
    await clock.advance(0);
    assert.equal(await done, 7);
  });

  it("looks anew before it begins where the stack was changed since the look", async () => {
    const { clock, parts, begun } = createParts();
    let marks = 0;
    const isStill = (_key: unknown, since: string) => since === String(marks);
    const ledger = { mark: () => String(marks), isStill };
    const looks: string[] = [];
    const ready = () => Promise.resolve(looks.push(marks < 2 ? `moved to ${++marks}` : "settled"));
    const work = (_within: AbortSignal, count: number) => Promise.resolve(count);
    const done = withinLock({ ...parts, ledger }, { ...bounded, ready }, work, never);
    await clock.advance(0);
    assert.equal(await done, 3);
    assert.deepEqual(looks, ["moved to 1", "moved to 2", "settled"]);
    assert.equal(begun.length, 3);
  });

  it("names what has the lock where that is known", async () => {
    const { clock, parts } = createParts(3_600_000);
    const named = { ...parts, underWay: () => "run 7 (poll: pulling)" };
    const said = /nothing was done: run 7 \(poll: pulling\) was under way for all of the 5 s/;
    const end = assert.rejects(withinLock(named, bounded, () => Promise.resolve(), never), said);
    await clock.advance(5000);
    await end;
  });

  it("ends what is only prepared where it is first, until its turn", async () => {
    const { clock, parts } = createParts();
    const { stackLock } = parts;
    const waiting = waitsFor(bounded.key);
    const isOver = () => stackLock.isEnding(waiting) ? new Error("given up") : undefined;
    const prepare = () =>
      stackLock.run("default/shop", () => {
        const work = (within: AbortSignal) => clock.sleep(60_000, within);
        return stackLock.endable({ keys: [waiting], isOver, work }, never);
      }, never).then(() => "prepared", ({ message }) => message);
    const act = (isFirst: boolean) => {
      const asked = { ...bounded, isFirst, timeoutSeconds: 100 };
      return withinLock(parts, asked, () => Promise.resolve("acted"), never);
    };
    const [ended, stopped, next] = [prepare(), act(true), prepare()];
    await clock.advance(0);
    assert.deepEqual([await ended, await stopped], ["given up", "acted"]);
    const started = act(false);
    await clock.advance(60_000);
    assert.deepEqual([await next, await started], ["prepared", "acted"]);
    assert.equal(stackLock.isEnding(waiting), false);
  });

  it("does nothing for a client who goes away while it waits for the lock, or for others", async () => {
    for (const othersMs of [0, 1000]) {
      const { clock, parts, begun } = createParts(othersMs);
      const [client, free] = [new AbortController(), Promise.withResolvers<void>()];
      const other = parts.stackLock.run("default/shop", () => free.promise, never);
      const end = withinLock(parts, bounded, () => Promise.resolve(), client.signal)
        .catch((error) => error);
      await clock.advance(0);
      if (othersMs === 0) client.abort("gone");
      free.resolve();
      await other;
      await clock.advance(0);
      client.abort("gone");
      assert.equal(await end, "gone");
      await clock.advance(60_000);
      assert.deepEqual(begun, []);
    }
  });

  it("lets work that has begun go on to its end, whoever goes away and however long it takes", async () => {
    const { clock, parts } = createParts();
    const client = new AbortController();
    const work = (signal: AbortSignal) => clock.sleep(60_000, signal).then(() => 1);
    const end = withinLock(parts, bounded, work, client.signal);
    await clock.advance(1);
    client.abort("gone");
    await clock.advance(60_000);
    assert.equal(await end, 1);
  });

  it("throws what the work throws, and what ends the process", async () => {
    const { clock, parts, stop } = createParts();
    const fails = () => Promise.reject(new Error("broken"));
    await assert.rejects(
      Promise.all([withinLock(parts, bounded, fails, never), clock.advance(1)]),
      /broken/,
    );
    const work = (signal: AbortSignal) => clock.sleep(60_000, signal);
    const end = withinLock(parts, bounded, work, never).catch((error) => error);
    await clock.advance(1);
    stop.abort("shutdown");
    assert.equal(await end, "shutdown");
  });
});
