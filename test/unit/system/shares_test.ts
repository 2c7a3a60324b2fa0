import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { preparingInSlot } from "../../../src/system/slots.ts";
import { boundByName, createLimiter, noMeter, Shares } from "../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;
const SLOTS = 8;

/** Work of sources, whose remotes answer when a test says so. */
function createTown() {
  const clock = createFakeClock();
  const shares = new Shares(clock, SLOTS);
  const limiter = boundByName(createLimiter(SLOTS), SLOTS, clock);
  const parts = { meter: noMeter, clock, preparing: limiter, deploying: limiter, shares };
  const town = { clock, asked: [] as string[], most: 0, done: [] as string[], inside: 0 };
  const answers = new Set<() => void>();
  let open = 0;
  const silence = () =>
    new Promise<void>((resolve) => {
      town.most = Math.max(town.most, ++open);
      const answer = () => {
        open--;
        answers.delete(answer);
        resolve();
      };
      answers.add(answer);
    });
  /** `owner` is a source, or a repository that one deploys: `source:repository`. */
  const ask = async (owner: string, host: string, answer: () => Promise<void>, signal = never) => {
    const [name = "", repository = name] = owner.split(":");
    const holder = { repository, configuration: { source: { name } } };
    const work = async (lend: Parameters<Parameters<typeof preparingInSlot>[2]>[0]) => {
      await lend([host], () => {
        town.asked.push(owner);
        return answer();
      });
      town.inside++;
      assert.ok(town.inside <= SLOTS);
      await settle();
      town.inside--;
      town.done.push(owner);
    };
    await preparingInSlot(parts, holder, work, signal);
  };
  return {
    ...town,
    town,
    silent: (owner: string, host: string, signal?: AbortSignal) =>
      ask(owner, host, silence, signal),
    waitFor: (owner: string, host: string, answer: Promise<void>) => ask(owner, host, () => answer),
    honest: (owner: string, host: string) => ask(owner, host, () => Promise.resolve()),
    answerAll: () => [...answers].forEach((answer) => answer()),
  };
}

/** Five seconds, with turns for all that goes on in them. */
async function pass(clock: ReturnType<typeof createFakeClock>) {
  for (let second = 0; second < 5; second++) await clock.advance(1000);
}

/** Seconds until a source whose remote answers at once is served. */
async function wait({ town, honest, clock }: ReturnType<typeof createTown>, host: string) {
  const began = clock.now().getTime();
  void honest("honest", host);
  for (let second = 0; !town.done.includes("honest"); second++) {
    if (second > 600) return Infinity;
    await clock.advance(1000);
  }
  return (clock.now().getTime() - began) / 1000;
}

describe("preparing beside remotes that say nothing", () => {
  it("waits seconds for sixty sources of one host", async () => {
    const all = createTown();
    const waiting = Array.from({ length: 60 }, (_, at) => all.silent(`s${at}`, "silent"));
    await settle();
    assert.ok(await wait(all, "well") <= 3);
    assert.deepEqual([all.town.most, all.town.asked.length], [SLOTS, SLOTS + 1]);
    while (all.town.done.length < 61) {
      all.answerAll();
      await all.clock.advance(1000);
    }
    await Promise.all(waiting);
    assert.equal(all.town.most, SLOTS);
  });

  it("waits seconds for one source with a hundred hosts, also for one that has as many", async () => {
    for (const host of ["well", "silent0"]) {
      const all = createTown();
      for (let at = 0; at < 100; at++) void all.silent("one", host === "well" ? `${at}` : host);
      await settle();
      assert.ok(await wait(all, host) <= 3);
      assert.equal(all.town.most, SLOTS);
    }
  });

  it("waits seconds for five sources with a dozen hosts each", async () => {
    const all = createTown();
    for (let at = 0; at < 60; at++) void all.silent(`s${at % 5}`, `h${at}`);
    await settle();
    assert.ok(await wait(all, "well") <= 20);
  });

  it("waits seconds for a source that fills what is there, then for each that comes after it", async () => {
    const all = createTown();
    const began: number[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]) {
      for (let at = 0; at < 50; at++) void all.silent(name, "builder");
      await all.clock.advance(5000);
      began.push(all.town.asked.filter((each) => each === name).length);
    }
    assert.deepEqual(began, [8, 4, 2, 2, 1, 1, 1, 1, 0, 0]);
    for (let round = 0; !all.town.asked.includes("j") && round < 10; round++) {
      all.answerAll();
      await all.clock.advance(5000);
    }
    assert.ok(all.town.asked.includes("j"));
    assert.equal(all.town.most, 20);
  });

  it("waits seconds for sixty sources with as many hosts", async () => {
    const all = createTown();
    for (let at = 0; at < 60; at++) void all.silent(`s${at}`, `h${at}`);
    await settle();
    assert.ok(await wait(all, "well") <= 20);
  });

  it("is bounded for many sources with as many hosts", async () => {
    const all = createTown();
    for (let at = 0; at < 200; at++) void all.silent(`s${at}`, `h${at}`);
    await all.clock.advance(60_000);
    assert.equal(all.town.most, 16 * SLOTS);
  });

  it("is bounded for one source and few with many hosts", async () => {
    const all = createTown();
    for (let at = 0; at < 200; at++) void all.silent(`s${at % 5}`, `h${at}`);
    await all.clock.advance(60_000);
    assert.equal(all.town.most, 4 * SLOTS);
  });

  it("waits seconds for a repository of a source of which another one has builds that do not end", async () => {
    const all = createTown();
    for (let at = 0; at < 10; at++) void all.silent("c:bad", "builder");
    await pass(all.clock);
    const done = (name: string) => all.town.done.includes(name);
    for (const name of ["c:good", "c", "d"]) {
      void all.honest(name, "builder");
      await pass(all.clock);
      assert.ok(done(name), name);
    }
    // Four such repositories fill what the source may have: the next one waits for a minute at each.
    for (const name of ["c:worse", "c:worst", "c:last"]) {
      for (let at = 0; at < 10; at++) void all.silent(name, "builder");
      await pass(all.clock);
    }
    void all.honest("c:late", "builder");
    await pass(all.clock);
    assert.ok(!done("c:late"));
    const began = (name: string) => all.town.asked.filter((each) => each === name).length;
    assert.deepEqual(["c:bad", "c:worse", "c:worst", "c:last"].map(began), [4, 2, 1, 1]);
    for (let seconds = 0; seconds < 120; seconds += 5) await pass(all.clock);
    assert.ok(done("c:late"));
    assert.equal(all.town.most, SLOTS);
  });

  it("gives a source that deploys a hundred repositories no more than one that deploys its own", async () => {
    const all = createTown();
    for (let at = 0; at < 100; at++) void all.silent(`c:r${at}`, "builder");
    await all.clock.advance(50_000);
    assert.equal(all.town.most, SLOTS);
    await all.clock.advance(600_000);
    assert.equal(all.town.most, SLOTS + SLOTS / 2);
    for (let at = 0; at < 100; at++) void all.silent("d", "builder");
    await all.clock.advance(600_000);
    assert.equal(all.town.asked.filter((each) => each === "d").length, SLOTS / 2);
  });

  it("lets a repository that waits for the first time go before others' further work", async () => {
    const all = createTown();
    for (let at = 0; at < 3; at++) {
      for (let i = 0; i < 9; i++) void all.silent(`c:r${at}`, "builder");
    }
    await pass(all.clock);
    void all.silent("c", "builder");
    await pass(all.clock);
    void all.silent("c:new", "builder");
    await pass(all.clock);
    all.town.asked.splice(0);
    all.answerAll();
    await pass(all.clock);
    assert.equal(all.town.asked[0], "c:new");
  });

  it("loses no place and no slot to who gives up", async () => {
    const all = createTown();
    const stop = new AbortController();
    const given = Array.from(
      { length: 60 },
      (_, at) => assert.rejects(all.silent(`s${at}`, "silent", stop.signal)),
    );
    await all.clock.advance(5000);
    stop.abort(new Error("stopped"));
    all.answerAll();
    await Promise.all(given);
    const later = Array.from({ length: SLOTS }, (_, at) => all.silent(`later${at}`, "silent"));
    await settle();
    all.answerAll();
    await Promise.all(later);
    assert.equal(all.town.done.length, SLOTS);
  });

  it("has a slot once where several parts of one work wait at the same time", async () => {
    const { clock } = createTown();
    const shares = new Shares(clock, 1);
    const limiter = createLimiter(1);
    const parts = { meter: noMeter, clock, preparing: limiter, deploying: limiter, shares };
    const slow = () => clock.sleep(3000, never);
    const all = ["a", "b"].map((name) =>
      preparingInSlot(parts, { repository: name }, async (lend) => {
        await Promise.all(["x", "y", "z"].map((host) => lend([host], slow)));
        return name;
      }, never)
    );
    await clock.advance(60_000);
    assert.deepEqual(await Promise.all(all), ["a", "b"]);
    assert.equal(await limiter.run(() => Promise.resolve("free"), never), "free");
  });

  it("lets who waits for nobody yet go before who waits elsewhere as well", async () => {
    const all = createTown();
    for (let at = 1; at < SLOTS; at++) void all.silent(`s${at}`, "full");
    const last = { end: () => {} };
    void all.waitFor("last", "full", new Promise((resolve) => last.end = () => resolve()));
    void all.silent("greedy", "elsewhere");
    await all.clock.advance(5000);
    void all.silent("greedy", "full");
    await all.clock.advance(5000);
    void all.silent("new", "full");
    await all.clock.advance(5000);
    last.end();
    await all.clock.advance(5000);
    assert.deepEqual(all.town.asked.slice(-2), ["greedy", "new"]);
  });

  it("has no slot while one part of a work waits, although another one just came back", async () => {
    const { clock } = createTown();
    const shares = new Shares(clock, 4);
    const limiter = createLimiter(1);
    const parts = { meter: noMeter, clock, preparing: limiter, deploying: limiter, shares };
    const began = clock.now().getTime();
    void preparingInSlot(parts, { repository: "a" }, async (lend) => {
      const short = lend(["x"], () => clock.sleep(2500, never));
      await clock.sleep(1000, never);
      await Promise.all([short, lend(["y"], () => clock.sleep(60_000, never))]);
    }, never);
    void limiter.run(() => clock.sleep(4000, never), never);
    let entered = Infinity;
    await clock.advance(2200);
    void limiter.run(() => Promise.resolve(entered = clock.now().getTime() - began), never);
    for (let second = 0; second < 30; second++) await clock.advance(1000);
    assert.ok(entered < 10_000, `entered after ${entered} ms`);
  });
});
