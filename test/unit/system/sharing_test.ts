import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSharing } from "../../../src/system/mod.ts";
import { settle } from "../../fakes/fake_clock.ts";

const never = new AbortController().signal;

/** Questions whose answers the test gives. */
function create() {
  const sharing = createSharing<number>();
  const begun: { what: string; end(value: number): void; fail(error: Error): void }[] = [];
  const ask = (what: string, signal: AbortSignal = never) =>
    sharing.ask(what, (within) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      within.addEventListener("abort", () => reject(within.reason));
      begun.push({ what, end: resolve, fail: reject });
      return promise;
    }, signal);
  return { ask, begun };
}

describe("createSharing()", () => {
  it("answers all who ask while an answer is made by the next one, never by that", async () => {
    const { ask, begun } = create();
    const first = ask("a");
    await settle();
    const later = Array.from({ length: 50 }, () => ask("a"));
    await settle();
    assert.equal(begun.length, 1);
    begun[0]?.end(1);
    assert.equal(await first, 1);
    await settle();
    assert.equal(begun.length, 2);
    const last = ask("a");
    begun[1]?.end(2);
    assert.deepEqual(new Set(await Promise.all(later)), new Set([2]));
    await settle();
    begun[2]?.end(3);
    assert.equal(await last, 3);
  });

  it("keeps no question waiting for another", async () => {
    const { ask, begun } = create();
    const all = [ask("a"), ask("b")];
    await settle();
    assert.deepEqual(begun.map(({ what }) => what), ["a", "b"]);
    begun.forEach((each, at) => each.end(at));
    assert.deepEqual(await Promise.all(all), [0, 1]);
  });

  it("tells a failure to those who share it alone", async () => {
    const { ask, begun } = create();
    const first = ask("a");
    await settle();
    const second = ask("a");
    begun[0]?.fail(new Error("first"));
    await assert.rejects(first, /first/);
    await settle();
    begun[1]?.end(2);
    assert.equal(await second, 2);
  });

  it("goes on for others when some give up, and ends when all have", async () => {
    const { ask, begun } = create();
    const [one, two] = [new AbortController(), new AbortController()];
    const [first, second] = [ask("a", one.signal), ask("a", two.signal)];
    await settle();
    const waiting = new AbortController();
    const given = assert.rejects(ask("a", waiting.signal), /enough/);
    waiting.abort(new Error("enough"));
    await given;
    const next = ask("a");
    one.abort(new Error("enough"));
    await assert.rejects(first, /enough/);
    await settle();
    assert.equal(begun.length, 1);
    two.abort(new Error("enough"));
    await assert.rejects(second, /enough/);
    await settle();
    assert.equal(begun.length, 2);
    begun[1]?.end(2);
    assert.equal(await next, 2);
  });
});
