import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKeyedLock, createLimiter } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

/** A source of configurations that deploys what it has itself. */
const ofOwn = (source: string) => ({ source, repository: source });
const never = new AbortController().signal;

/** Pieces of work that run until a test lets them end. */
function createWork() {
  const started: string[] = [];
  const ends = new Map<string, { end(): void; fail(error: unknown): void }>();
  return {
    started,
    of: (name: string) => () => {
      started.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, { end: () => resolve(name), fail: reject });
      });
    },
    async end(name: string) {
      ends.get(name)?.end();
      await settle();
    },
    async fail(name: string, error: unknown) {
      ends.get(name)?.fail(error);
      await settle();
    },
  };
}

/** Checks that of two pieces of work the second begins when the first has ended, and that both end. */
async function runsOneAtATime(limiter: ReturnType<typeof createLimiter>): Promise<void> {
  const work = createWork();
  const all = ["a", "b"].map((name) => limiter.run(work.of(name), never));
  await settle();
  assert.deepEqual(work.started, ["a"]);
  await work.end("a");
  await work.end("b");
  await Promise.all(all);
}

describe("createLimiter", () => {
  it("run() never runs more at once than there are places, and the others in order", async () => {
    const limiter = createLimiter(2);
    const work = createWork();
    const all = ["a", "b", "c", "d", "e"].map((name) => limiter.run(work.of(name), never));
    await settle();
    assert.deepEqual(work.started, ["a", "b"]);
    await work.end("b");
    assert.deepEqual(work.started, ["a", "b", "c"]);
    await work.end("a");
    await work.end("c");
    assert.deepEqual(work.started, ["a", "b", "c", "d", "e"]);
    await work.end("d");
    await work.end("e");
    assert.deepEqual(await Promise.all(all), ["a", "b", "c", "d", "e"]);
  });

  for (const places of [0, -1, 1]) {
    it(`run() runs one at a time with ${places} places`, async () => {
      await runsOneAtATime(createLimiter(places));
    });
  }

  it("run() passes an error on and frees the slot", async () => {
    const limiter = createLimiter(1);
    const error = new Error("broken");
    await assert.rejects(limiter.run(() => Promise.reject(error), never), error);
    const throwing = (): Promise<never> => {
      throw error;
    };
    await assert.rejects(limiter.run(throwing, never), error);
    assert.equal(await limiter.run(() => Promise.resolve("next"), never), "next");
  });

  it("run() rejects with the signal's reason at once, when aborted before or while waiting", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const first = limiter.run(work.of("a"), never);
    const reason = new Error("stopped");
    await assert.rejects(limiter.run(work.of("b"), AbortSignal.abort(reason)), reason);
    const stop = new AbortController();
    const waiting = limiter.run(work.of("c"), stop.signal);
    const rejected = assert.rejects(waiting, reason);
    await settle();
    stop.abort(reason);
    await rejected;
    assert.deepEqual(work.started, ["a"]);
    await work.end("a");
    await first;
    assert.deepEqual(work.started, ["a"]);
  });

  it("run() loses no slot and nobody's turn when one that waits gives up", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const stop = new AbortController();
    const first = limiter.run(work.of("a"), never);
    const second = assert.rejects(limiter.run(work.of("b"), stop.signal));
    const third = limiter.run(work.of("c"), never);
    const fourth = limiter.run(work.of("d"), never);
    await settle();
    stop.abort(new Error("stopped"));
    await second;
    await work.end("a");
    assert.deepEqual(work.started, ["a", "c"]);
    await work.end("c");
    assert.deepEqual(work.started, ["a", "c", "d"]);
    await work.end("d");
    await Promise.all([first, third, fourth]);
    assert.equal(await limiter.run(() => Promise.resolve(1), never), 1);
  });

  it("run() lets others in while a slot is lent, and gives it back ahead of who never had one", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const steps: string[] = [];
    const lent = limiter.run(async (slot) => {
      slot.leave();
      slot.leave();
      await settle();
      const back = slot.takeAgain(never);
      steps.push("asked");
      await back;
      steps.push("back");
      await slot.takeAgain(never);
    }, never);
    const all = ["a", "b"].map((name) => limiter.run(work.of(name), never));
    await settle();
    await settle();
    assert.deepEqual([work.started, steps], [["a"], ["asked"]]);
    await work.end("a");
    await lent;
    assert.deepEqual(steps, ["asked", "back"]);
    await settle();
    assert.deepEqual(work.started, ["a", "b"]);
    await work.end("b");
    await Promise.all(all);
  });

  it("run() waits for one slot alone, whichever of its parts ask for it again", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const lent = limiter.run(async (slot) => {
      slot.leave();
      await settle();
      await Promise.all([slot.takeAgain(never), slot.takeAgain(never)]);
      return "back";
    }, never);
    const other = limiter.run(work.of("a"), never);
    await settle();
    await settle();
    await work.end("a");
    assert.equal(await other, "a");
    assert.equal(await lent, "back");
    await runsOneAtATime(limiter);
  });

  it("run() frees no slot twice when it ends while its slot is lent", async () => {
    const limiter = createLimiter(1);
    await limiter.run((slot) => Promise.resolve(slot.leave()), never);
    await runsOneAtATime(limiter);
  });

  it("run() does not wait for a lent slot beyond its signal", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const stop = new AbortController();
    const reason = new Error("stopped");
    const lent = limiter.run(async (slot) => {
      slot.leave();
      await settle();
      await slot.takeAgain(stop.signal);
    }, never);
    const other = limiter.run(work.of("a"), never);
    const rejected = assert.rejects(lent, reason);
    await settle();
    await settle();
    stop.abort(reason);
    await rejected;
    await work.end("a");
    assert.equal(await other, "a");
    assert.equal(await limiter.run(() => Promise.resolve(1), never), 1);
  });

  it("run() does not stop work that has its slot: that is the work's own matter", async () => {
    const limiter = createLimiter(1);
    const work = createWork();
    const stop = new AbortController();
    const running = limiter.run(work.of("a"), stop.signal);
    await settle();
    stop.abort(new Error("stopped"));
    const next = limiter.run(work.of("b"), never);
    await settle();
    assert.deepEqual(work.started, ["a"]);
    await work.end("a");
    assert.equal(await running, "a");
    await work.end("b");
    assert.equal(await next, "b");
  });

  it("run() keeps its bound when many come, go and give up", async () => {
    const limiter = createLimiter(3);
    let running = 0;
    let most = 0;
    let done = 0;
    const all = Array.from({ length: 60 }, async (_, index) => {
      const stop = new AbortController();
      const run = limiter.run(async () => {
        most = Math.max(most, ++running);
        await settle();
        running--;
        done++;
        if (index % 7 === 0) throw new Error("broken");
      }, stop.signal).catch(() => {});
      if (index % 5 === 4) stop.abort(new Error("stopped"));
      await run;
    });
    await Promise.all(all);
    assert.equal(most, 3);
    assert.equal(done, 48);
  });
});

describe("createLimiter with patience", () => {
  const set = () => {
    const clock = createFakeClock();
    const limiter = createLimiter(2, { clock, milliseconds: 60_000 });
    const work = createWork();
    const run = (who: string, name: string, signal = never) =>
      limiter.run(work.of(name), signal, ofOwn(who));
    return { clock, limiter, work, run };
  };

  it("lets in who waited for too long for others, one at a time in a name", async () => {
    const { clock, work, run } = set();
    const all = [run("hog", "a"), run("long", "b"), run("hog", "c"), run("hog", "d")];
    all.push(run("shop", "e"), run("shop", "f"), run("blog", "g"));
    await clock.advance(59_000);
    assert.deepEqual(work.started, ["a", "b"]);
    await clock.advance(2_000);
    assert.deepEqual(work.started, ["a", "b", "e", "g"]);
    await clock.advance(600_000);
    assert.deepEqual(work.started, ["a", "b", "e", "g"]);
    await work.end("e");
    await clock.advance(10_000);
    assert.deepEqual(work.started, ["a", "b", "e", "g", "f"]);
    // Who was let in had none of the slots to give back.
    await work.end("f");
    await work.end("g");
    assert.deepEqual(work.started, ["a", "b", "e", "g", "f"]);
    for (const name of ["a", "b", "c", "d"]) await work.end(name);
    await Promise.all(all);
    assert.equal(clock.sleepers, 0);
  });

  it("lets few in soon while one name has several slots", async () => {
    const { clock, work, run } = set();
    const all = ["a", "b", "c"].map((name) => run("hog", name));
    all.push(...["shop", "blog", "wiki"].map((name) => run(name, name)));
    await clock.advance(9_000);
    assert.deepEqual(work.started, ["a", "b"]);
    await clock.advance(2_000);
    assert.deepEqual(work.started, ["a", "b", "shop", "blog"]);
    await clock.advance(30_000);
    assert.deepEqual(work.started, ["a", "b", "shop", "blog"]);
    await work.end("shop");
    await clock.advance(10_000);
    assert.deepEqual(work.started, ["a", "b", "shop", "blog", "wiki"]);
    for (const name of ["a", "b", "blog", "wiki", "c"]) await work.end(name);
    await Promise.all(all);
    assert.equal(clock.sleepers, 0);
  });

  it("lets in repositories beside another one of their source that has the slots", async () => {
    const { clock, limiter, work } = set();
    const run = (repository: string, name: string) =>
      limiter.run(work.of(name), never, { source: "c", repository });
    const all = [run("bad", "a"), run("bad", "b"), run("bad", "d"), run("good", "e")];
    all.push(run("good", "f"), run("last", "g"));
    await clock.advance(11_000);
    assert.deepEqual(work.started, ["a", "b", "e"]);
    await clock.advance(600_000);
    assert.deepEqual(work.started, ["a", "b", "e", "g"], "a repository without any");
    await work.end("e");
    await clock.advance(10_000);
    assert.deepEqual(work.started, ["a", "b", "e", "g", "f"]);
    for (const name of ["a", "b", "d", "f", "g"]) await work.end(name);
    await Promise.all(all);
    assert.equal(clock.sleepers, 0);
  });

  it("lets one of each repository in after a minute, up to half as many of a source as there are slots", async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(4, { clock, milliseconds: 900_000 });
    const work = createWork();
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const run = (name: string, source = "x") =>
      limiter.run(work.of(name), never, { source, repository: name.slice(0, 1) });
    const all = names.map((name) => run(name));
    all.push(run("a2"));
    await clock.advance(11_000);
    assert.deepEqual(work.started, ["a", "b", "c", "d", "e"]);
    await clock.advance(50_000);
    assert.deepEqual(work.started, ["a", "b", "c", "d", "e", "f", "g"]);
    all.push(run("other", "y"));
    await clock.advance(11_000);
    assert.deepEqual(work.started.slice(7), ["other"]);
    await work.end("f");
    await clock.advance(900_000);
    assert.deepEqual(work.started.slice(8), ["h"], "but not a second one of a repository");
    for (const name of ["a", "b", "c", "d", "e", "g", "h", "a2", "other"]) await work.end(name);
    await Promise.all(all);
    assert.equal(clock.sleepers, 0);
  });

  it("leaves the bound as it is for who does not wait for long, and for who has no name", async () => {
    const { clock, limiter, work, run } = set();
    const all = [run("shop", "a"), run("blog", "b"), run("wiki", "c")];
    all.push(limiter.run(work.of("d"), never));
    await clock.advance(30_000);
    await work.end("a");
    assert.deepEqual(work.started, ["a", "b", "c"]);
    await clock.advance(600_000);
    assert.deepEqual(work.started, ["a", "b", "c"]);
    for (const name of ["b", "c", "d"]) await work.end(name);
    await Promise.all(all);
    assert.equal(clock.sleepers, 0);
  });

  it("lets nobody in who gave up, and counts him no more", async () => {
    const { clock, limiter, work, run } = set();
    const all = [run("hog", "a"), run("long", "b")];
    const stop = new AbortController();
    const reason = new Error("stopped");
    const rejected = assert.rejects(run("shop", "c", stop.signal), reason);
    await assert.rejects(run("shop", "d", AbortSignal.abort(reason)), reason);
    await clock.advance(30_000);
    stop.abort(reason);
    await rejected;
    const later = run("shop", "e");
    await clock.advance(61_000);
    assert.deepEqual(work.started, ["a", "b", "e"]);
    for (const name of ["a", "b", "e"]) await work.end(name);
    await Promise.all([...all, later]);
    assert.equal(await limiter.run(() => Promise.resolve(1), never, ofOwn("shop")), 1);
    assert.equal(clock.sleepers, 0);
  });

  it("lets in one of those in a name whose time is over at once, and counts nobody who gave up then", async () => {
    const sleepers: (() => void)[] = [];
    const clock = {
      now: () => new Date(0),
      uptime: () => 0,
      sleep: () => new Promise<void>((resolve) => sleepers.push(resolve)),
    };
    const limiter = createLimiter(1, { clock, milliseconds: 10_000 });
    const work = createWork();
    const stop = new AbortController();
    const reason = new Error("stopped");
    const all = [limiter.run(work.of("a"), never, ofOwn("hog"))];
    const rejected = assert.rejects(limiter.run(work.of("b"), stop.signal, ofOwn("wiki")), reason);
    all.push(...["c", "d"].map((name) => limiter.run(work.of(name), never, ofOwn("shop"))));
    all.push(limiter.run(work.of("e"), never, ofOwn("wiki")));
    const wakeAll = async (meanwhile = () => {}) => {
      for (const wake of sleepers.splice(0)) wake();
      meanwhile();
      await rejected;
      await settle();
    };
    await wakeAll(() => stop.abort(reason));
    assert.deepEqual(work.started, ["a", "c"]);
    await wakeAll();
    assert.deepEqual(work.started, ["a", "c", "e"]);
    for (const name of ["c", "e"]) await work.end(name);
    const later = limiter.run(work.of("f"), never, ofOwn("wiki"));
    await wakeAll();
    assert.deepEqual(work.started, ["a", "c", "e", "d", "f"]);
    for (const name of ["a", "d", "f"]) await work.end(name);
    await Promise.all([...all, later]);
  });

  it("lets in who wants his lent slot back as well", async () => {
    const { clock, limiter, work, run } = set();
    const lent = limiter.run(
      async (slot) => {
        slot.leave();
        await settle();
        await slot.takeAgain(never);
        return "back";
      },
      never,
      ofOwn("shop"),
    );
    const all = ["a", "b"].map((name) => run("hog", name));
    await settle();
    await clock.advance(61_000);
    assert.equal(await lent, "back");
    for (const name of ["a", "b"]) await work.end(name);
    await Promise.all(all);
  });
});

describe("createKeyedLock", () => {
  it("run() runs one at a time per key, in order, and other keys meanwhile", async () => {
    const lock = createKeyedLock();
    const work = createWork();
    const all = [["x", "a"], ["x", "b"], ["x", "c"], ["y", "d"]].map(([key = "", name = ""]) =>
      lock.run(key, work.of(name), never)
    );
    await settle();
    assert.deepEqual(work.started, ["a", "d"]);
    await work.end("a");
    assert.deepEqual(work.started, ["a", "d", "b"]);
    await work.end("b");
    await work.end("c");
    await work.end("d");
    assert.deepEqual(await Promise.all(all), ["a", "b", "c", "d"]);
  });

  it("run() frees the key after an error, and after one that gave up waiting", async () => {
    const lock = createKeyedLock();
    const work = createWork();
    const stop = new AbortController();
    const first = assert.rejects(lock.run("x", work.of("a"), never), /broken/);
    const second = assert.rejects(lock.run("x", work.of("b"), stop.signal), /stopped/);
    const third = lock.run("x", work.of("c"), never);
    await settle();
    stop.abort(new Error("stopped"));
    await second;
    await work.fail("a", new Error("broken"));
    await first;
    assert.deepEqual(work.started, ["a", "c"]);
    await work.end("c");
    assert.equal(await third, "c");
    assert.equal(await lock.run("x", () => Promise.resolve("d"), never), "d");
  });

  it("run() keeps the key taken while those who came early are at work", async () => {
    const lock = createKeyedLock();
    const work = createWork();
    const early = ["a", "b"].map((name) => lock.run("x", work.of(name), never));
    await settle();
    await work.end("a");
    assert.deepEqual(work.started, ["a", "b"]);
    const late = lock.run("x", work.of("c"), never);
    await settle();
    assert.deepEqual(work.started, ["a", "b"]);
    await work.end("b");
    await work.end("c");
    assert.deepEqual(await Promise.all([...early, late]), ["a", "b", "c"]);
  });

  it("run() does not let a late comer pass between the end of one and the start of the next", async () => {
    const lock = createKeyedLock();
    const order: string[] = [];
    const note = (name: string) => () => Promise.resolve(void order.push(name));
    const first = lock.run("x", note("a"), never);
    const second = lock.run("x", note("b"), never);
    await first;
    await Promise.all([lock.run("x", note("c"), never), second]);
    assert.deepEqual(order, ["a", "b", "c"]);
  });
});
