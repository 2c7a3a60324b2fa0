import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PollRound, Revision } from "../../../src/model/mod.ts";
import { NewestCommits, type ResolveRequest, type Source } from "../../../src/source/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";

const { signal } = new AbortController();
const source = { kind: "git", url: "https://a.test/acme/shop", name: "a.test/acme/shop" } as const;
const at = (id: string, reference = "refs/heads/main"): Revision => ({ source, reference, id });

const memory = (clock = createFakeClock()) => createMemoryLedger(clock);

/** Commits that are remembered of a source whose answers are given by hand, each with its question. */
function createNewest(ledger = memory(), clock = createFakeClock()) {
  const newest = new NewestCommits(ledger.found, clock);
  const questions: ((revision: Revision) => void)[] = [];
  const resolve = () => new Promise<Revision>((answer) => void questions.push(answer));
  const noting = newest.noting({ resolve } as unknown as Source);
  const ask = (more: Partial<ResolveRequest> = {}) => {
    const asked = { location: source, reference: "main", depth: 0, ...more };
    const answered = noting.resolve(asked, signal);
    const answer = questions.at(-1);
    return async (revision: Revision) => {
      answer?.(revision);
      return await answered;
    };
  };
  const late = (...looked: Revision[]) => newest.overtaken(looked).map(({ id }) => id);
  return { ask, late };
}

describe("NewestCommits", () => {
  it("tells of a commit instead of which a later question found another one", async () => {
    const { ask, late } = createNewest();
    assert.deepEqual(late(at("1")), [], "nobody has asked");
    await ask()(at("1"));
    assert.deepEqual(late(at("1")), []);
    await ask()(at("2"));
    assert.deepEqual(late(at("1"), at("2"), at("1", "refs/heads/next")), ["1"]);
    await ask()(at("1"));
    assert.deepEqual(late(at("1"), at("2")), ["2"], "it was moved back");
  });

  it("goes by the order of the questions, not of the answers", async () => {
    const { ask, late } = createNewest();
    const [slow, quick] = [ask(), ask()];
    await quick(at("2"));
    await slow(at("1"));
    assert.deepEqual(late(at("1"), at("2")), ["1"]);
  });

  it("counts a question of a round as the first one, whose answer it gets", async () => {
    const { ask, late } = createNewest();
    const round: PollRound = { references: [], note: () => {} };
    await ask({ round })(at("1"));
    await ask()(at("2"));
    await ask({ round })(at("1"));
    assert.deepEqual(late(at("1"), at("2")), ["1"]);
  });

  it("tells what another process has found since, by the order of their questions", async () => {
    const clock = createFakeClock();
    const ledger = memory(clock);
    const [one, other] = [createNewest(ledger, clock), createNewest(ledger, clock)];
    const slow = one.ask();
    await clock.advance(1000);
    await other.ask()(at("2"));
    assert.deepEqual(one.late(at("1"), at("2")), ["1"]);
    await slow(at("1"));
    assert.deepEqual(one.late(at("1")), ["1"]);
    assert.deepEqual(other.late(at("2")), []);
    await clock.advance(1000);
    await one.ask()(at("3"));
    assert.deepEqual(other.late(at("2")), ["2"]);
  });

  it("tells it also after the clock was set back", async () => {
    const clock = createFakeClock();
    const ledger = memory(clock);
    const [one, other] = [createNewest(ledger, clock), createNewest(ledger, clock)];
    await other.ask()(at("1"));
    clock.set(-3_600_000);
    await one.ask()(at("2"));
    assert.deepEqual(other.late(at("1")), ["1"]);
  });

  it("goes by the later one of its own answers and those of others", async () => {
    const clock = createFakeClock();
    const ledger = memory(clock);
    const [one, other] = [createNewest(ledger, clock), createNewest(ledger, clock)];
    await one.ask()(at("1"));
    await clock.advance(1000);
    await other.ask()(at("2"));
    // Its host is away now: the commit is known of the mirror that both have.
    assert.deepEqual(one.late(at("2")), []);
    assert.deepEqual(one.late(at("1")), ["1"]);
  });

  it("takes no note of a checkout under the name of its origin", async () => {
    const { ask, late } = createNewest();
    for (const url of ["/work/shop", "file:///work/shop"]) {
      const location = { ...source, url };
      await ask({ location })({ ...at("2"), source: location });
      assert.deepEqual(late(at("1")), []);
    }
  });

  it("remembers nothing of a question that fails", async () => {
    const newest = new NewestCommits(memory().found, createFakeClock());
    const resolve = () => Promise.reject(new Error("away"));
    const noting = newest.noting({ resolve } as unknown as Source);
    const asked = { location: source, reference: "main", depth: 0 };
    await assert.rejects(noting.resolve(asked, signal), { message: "away" });
    assert.deepEqual(newest.overtaken([at("1")]), []);
  });
});
