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
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const KEY = stackKey("", "shop");
const [A, B] = ["a", "b"].map((name): StackOwner => ({
  source: `host/${name}/shop`,
  reference: "refs/heads/main",
})) as [StackOwner, StackOwner];
const { signal } = new AbortController();

/** A stack of A's by two contexts of one engine. */
function createHouse() {
  const [clock, log] = [createFakeClock(), createRecordingLog()];
  const ledger = createMemoryLedger(clock);
  const alias = stackKey("alias", KEY.name);
  for (const key of [KEY, alias]) {
    ledger.owners.noteEngine(key.context, { id: "one", cluster: "" });
    ledger.owners.settle(key, A);
  }
  const stackLock = createWatchedLock();
  const imagesAhead = new Map<string, Set<string>>();
  const parts = { ledger, stackLock, clock, log, imagesAhead } as unknown as PipelineParts;
  const told: string[] = [];
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
  const deploy = (
    key: StackKey,
    owner: StackOwner,
    how: Partial<Parameters<typeof lockedForTarget<void>>[2]> = {},
  ) => {
    const configuration = { source: { name: owner.source }, reference: owner.reference };
    const progress = (text: string) => void told.push(`${owner.source}: ${text}`);
    const deployment = { destroy: { enabled: false } };
    const more = { origin: "automatic", progress };
    const asked = { key, configuration, deployment, revision: { id: "1" }, ...more };
    const target = asked as unknown as Target;
    const nothing = { before: () => Promise.resolve(), work: () => Promise.resolve() };
    return lockedForTarget(parts, target, { ...nothing, ...how }, signal);
  };
  return { ledger, alias, stackLock, endless, deploy, clock, log, told, imagesAhead };
}

type House = ReturnType<typeof createHouse>;

describe("lockedForTarget()", () => {
  it("ends what the work has noted of images ahead, also where it fails", async () => {
    const { deploy, imagesAhead } = createHouse();
    for (const fails of [false, true]) {
      let had = 0;
      const work = () => {
        imagesAhead.set(formatStackKey(KEY), new Set(["sha256:a"]));
        had = imagesAhead.size;
        return fails ? Promise.reject(new Error("failed")) : Promise.resolve();
      };
      await deploy(KEY, A, { work }).catch(() => {});
      assert.deepEqual([had, imagesAhead.size], [1, 0]);
    }
  });

  it("ends former owners' work alone, by whichever context of the engine", async () => {
    const { ledger, alias, endless, deploy } = createHouse();
    const end = Promise.withResolvers<void>();
    const [own, theirs] = [endless(KEY, A, end.promise), endless(alias, A, end.promise)];
    await deploy(KEY, A);
    ledger.handOver(KEY, B, { also: ["alias"] });
    const heirs = endless(alias, B, end.promise);
    await assert.rejects(deploy(KEY, A), { code: "conflict" });
    const isLeft = await Promise.race([own, theirs, Promise.resolve("goes on")]);
    assert.equal(isLeft, "goes on");
    await deploy(KEY, B);
    for (const ended of [own, theirs]) {
      assert.match(await ended, /^shop was handed over to host\/b\/shop \(refs\/heads\/main\): /);
    }
    end.resolve();
    assert.equal(await heirs, "done");
  });

  it("has work end by both contexts where they turn out to lead to one engine, and one has another owner", async () => {
    const { ledger, alias, endless, deploy } = createHouse();
    ledger.owners.noteEngine("alias", { id: "two", cluster: "" });
    ledger.handOver(alias, { ...A, reference: "refs/heads/dev" });
    const end = Promise.withResolvers<void>();
    const any = { ...A, reference: "" };
    const [own, theirs] = [endless(KEY, A, end.promise), endless(alias, any, end.promise)];
    ledger.owners.noteEngine("alias", { id: "one", cluster: "" });
    for (const key of [KEY, alias]) await deploy(key, A).catch(() => {});
    // Strangers end nobody's work at once: it asks by itself as soon as the ledger changes.
    end.resolve();
    assert.deepEqual(await Promise.all([own, theirs]), ["done", "done"]);
    for (const [key, owner] of [[KEY, A], [alias, any]] as const) {
      const asks = whileOwned(
        { ledger, stackLock: createWatchedLock() },
        { keys: [key], owners: [owner] },
        (within, ask) => {
          ask();
          within.throwIfAborted();
          return Promise.resolve();
        },
        signal,
      );
      await assert.rejects(asks, {
        code: "conflict",
        message: /^shop belongs to host\/a\/shop \(refs\/heads\/.*\) by context .* as well/,
      });
    }
  });

  it("refuses a stranger at once while somebody is at work, and records that", async () => {
    const { ledger, stackLock, deploy } = createHouse();
    const end = Promise.withResolvers<void>();
    const held = stackLock.run(formatStackKey(KEY), () => end.promise, signal);
    await assert.rejects(deploy(KEY, B), { code: "conflict" });
    assert.deepEqual(ledger.owners.refused(KEY), [B]);
    end.resolve();
    await held;
  });

  it("refuses a stranger before it has the lock: its work may wait there for long in its own queue", async () => {
    const { deploy, stackLock } = createHouse();
    let was = "not begun";
    const work = () => Promise.resolve(void (was = "begun"));
    await assert.rejects(
      deploy(KEY, B, { work }),
      /^StackwrightError: conflict: shop already belongs to host\/a\/shop/,
    );
    assert.deepEqual([was, stackLock.isBusy(formatStackKey(KEY))], ["not begun", false]);
  });

  it("refuses who waited for the stack's first deployment by another one as soon as it has the lock", async () => {
    const { deploy, ledger } = createHouse();
    const end = Promise.withResolvers<void>();
    const first = deploy(NEW, A, { work: () => end.promise });
    let was = "not begun";
    const second = deploy(NEW, B, { work: () => Promise.resolve(void (was = "begun")) });
    const refused = assert.rejects(second, /new already belongs to host\/a\/shop/);
    await settle();
    ledger.owners.settle(NEW, A);
    end.resolve();
    await Promise.all([first, refused]);
    assert.equal(was, "not begun");
  });

  it("has a stranger wait while the stack is being destroyed", async () => {
    const { ledger, stackLock, deploy } = createHouse();
    ledger.owners.remove(stackKey("alias", KEY.name));
    const end = Promise.withResolvers<void>();
    const held = stackLock.run(formatStackKey(KEY), () => end.promise, signal);
    const going = ledger.beginDestroy(KEY, {});
    const deployed = deploy(KEY, B);
    ledger.destroyed(going, "");
    end.resolve();
    await Promise.all([held, deployed]);
    assert.deepEqual(ledger.owners.refused(KEY), []);
  });
});

const NEW = stackKey("", "new");
const FIRST =
  /^conflict: new is being deployed for the first time by host\/a\/shop; nothing was changed/;

/** Ways in which others keep B's deployment of a stack waiting until `end`, and how that ends then. */
const OTHERS: Readonly<
  Record<string, {
    readonly key: StackKey;
    readonly says: RegExp;
    readonly begin: (house: House, end: Promise<void>) => Promise<unknown>;
  }>
> = {
  "the first deployment of a stack that nobody owns": {
    key: NEW,
    says: FIRST,
    begin: ({ deploy }, end) => deploy(NEW, A, { work: () => end }),
  },
  "one that got its turn after another of B's own": {
    key: NEW,
    says: FIRST,
    begin: async ({ deploy, clock }, end) => {
      const short = Promise.withResolvers<void>();
      const [own, theirs] = [
        deploy(NEW, B, { work: () => short.promise }),
        deploy(NEW, A, { work: () => end }),
      ];
      await clock.advance(10_000);
      short.resolve();
      await own;
      return theirs;
    },
  },
  "a first deployment, although B has the stack by now": {
    key: NEW,
    says: /^conflict: new is being deployed by host\/a\/shop; /,
    begin: async ({ deploy, ledger }, end) => {
      const theirs = deploy(NEW, A, { work: () => end });
      await settle();
      ledger.owners.settle(NEW, B);
      return theirs;
    },
  },
  "a destroy": {
    key: KEY,
    says: /belongs to host\/a\/shop/,
    begin: ({ ledger, stackLock }, end) => {
      ledger.beginDestroy(KEY, {});
      return stackLock.run(formatStackKey(KEY), () => end, signal);
    },
  },
};

describe("lockedForTarget() while another source is at work", () => {
  for (const [what, { key, says, begin }] of Object.entries(OTHERS)) {
    it(`waits half a minute alone for ${what}`, async () => {
      const house = createHouse();
      const end = Promise.withResolvers<void>();
      const theirs = begin(house, end.promise);
      await settle();
      await house.clock.advance(10_000);
      let ended = "waits";
      const deployed = house.deploy(key, B)
        .then(() => "deployed", (error: Error) => error.message)
        .then((how) => void (ended = how));
      await house.clock.advance(29_000);
      assert.equal(ended, "waits");
      await house.clock.advance(2_000);
      assert.match(ended, says);
      end.resolve();
      await Promise.all([theirs, deployed]);
      await house.deploy(key, key === NEW ? B : A);
      assert.equal(house.clock.sleepers, 0);
    });
  }

  it("waits for its own source's as long as that takes, and tells so", async () => {
    const { clock, deploy, log, told } = createHouse();
    const end = Promise.withResolvers<void>();
    const first = deploy(NEW, B, { work: () => end.promise });
    const second = deploy(NEW, B);
    await clock.advance(3_600_000);
    end.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(told, ["host/b/shop: waiting for other work on new, of host/b/shop"]);
    assert.deepEqual(log.lines, []);
  });

  it("tells in the run and the log whom it waits for, and goes on when that has ended", async () => {
    const { clock, deploy, log, told } = createHouse();
    const end = Promise.withResolvers<void>();
    const theirs = deploy(NEW, A, { work: () => end.promise });
    const own = deploy(NEW, B);
    await clock.advance(20_000);
    end.resolve();
    await Promise.all([theirs, own]);
    const text = "waiting for other work on new, of host/a/shop";
    assert.deepEqual(told, [`host/b/shop: ${text}`]);
    assert.deepEqual(log.lines.map(({ message }) => message), [text]);
  });

  it("refuses a stranger at once while another process is at work", async () => {
    const { ledger, deploy } = createHouse();
    Object.assign(ledger, { heldElsewhere: () => "7:1" });
    await assert.rejects(deploy(KEY, B), { code: "conflict" });
  });
});
