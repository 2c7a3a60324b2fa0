import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSharedQuestions } from "../../../../src/source/git/shared_questions.ts";
import { settle } from "../../../fakes/fake_clock.ts";

const never = () => new AbortController().signal;

/** Questions whose answers a test gives, with the signal that each was asked with. */
function createRemote() {
  const questions: { signal: AbortSignal; answer: (text: string) => void }[] = [];
  return {
    questions,
    ask: (signal: AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        questions.push({ signal, answer: resolve });
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  };
}

describe("shared questions", () => {
  it("are asked once for all who ask the same at the same time", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    const answers = ["a", "a", "b", "a"].map((key) => shared.ask(key, never(), ask));
    await settle();
    assert.equal(questions.length, 2);
    questions.forEach(({ answer }, index) => answer(`${index}`));
    assert.deepEqual(await Promise.all(answers), ["0", "0", "1", "0"]);
  });

  it("are not shared with who asks later, who may know of something new", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    const first = shared.ask("a", never(), ask);
    await settle();
    const second = shared.ask("a", never(), ask);
    await settle();
    questions[1]?.answer("new");
    questions[0]?.answer("old");
    assert.deepEqual(await Promise.all([first, second]), ["old", "new"]);
  });

  it("go on when one gives up, and end when all have given up", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    const [one, other] = [new AbortController(), new AbortController()];
    const answers = [one, other].map(({ signal }) => shared.ask("a", signal, ask));
    const ended = Promise.allSettled(answers);
    await settle();
    one.abort(new Error("one"));
    await settle();
    assert.equal(questions[0]?.signal.aborted, false);
    other.abort(new Error("other"));
    assert.deepEqual((await ended).map((each) => each.status), ["rejected", "rejected"]);
    assert.equal(questions[0]?.signal.aborted, true);
  });

  it("that everybody gave up before they were asked are not asked, and bother nobody else", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    await assert.rejects(shared.ask("a", AbortSignal.abort(new Error("gone")), ask), /gone/);
    const answer = shared.ask("a", never(), ask);
    await settle();
    assert.equal(questions.length, 1);
    questions[0]?.answer("here");
    assert.equal(await answer, "here");
  });

  it("fail for all who asked", async () => {
    const shared = createSharedQuestions<string>();
    const fail = () => Promise.reject(new Error("away"));
    const answers = [1, 2].map(() => shared.ask("a", never(), fail));
    for (const each of await Promise.allSettled(answers)) assert.equal(each.status, "rejected");
  });

  it("of one round are asked once, however late somebody asks; of another they are asked anew", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    const [round, next] = [{}, {}];
    const first = shared.ask("a", never(), ask, round);
    await settle();
    const second = shared.ask("a", never(), ask, round);
    await settle();
    questions[0]?.answer("once");
    assert.deepEqual(await Promise.all([first, second]), ["once", "once"]);
    assert.equal(await shared.ask("a", never(), ask, round), "once");
    assert.equal(questions.length, 1);
    for (const [key, of] of [["b", round], ["a", next], ["a", undefined]] as const) {
      const answer = shared.ask(key, never(), ask, of);
      await settle();
      questions.at(-1)?.answer("anew");
      assert.equal(await answer, "anew");
    }
    assert.equal(questions.length, 4);
  });

  it("of one round that everybody gave up are asked again", async () => {
    const shared = createSharedQuestions<string>();
    const { questions, ask } = createRemote();
    const [gone, round] = [new AbortController(), {}];
    const given = Promise.allSettled([shared.ask("a", gone.signal, ask, round)]);
    await settle();
    gone.abort(new Error("gone"));
    await given;
    const answer = shared.ask("a", never(), ask, round);
    await settle();
    assert.equal(questions.length, 2);
    questions[1]?.answer("here");
    assert.equal(await answer, "here");
  });

  it("of one round fail for all of it", async () => {
    const shared = createSharedQuestions<string>();
    let asked = 0;
    const fail = () => Promise.reject(new Error(`away ${++asked}`));
    const round = {};
    for (let turn = 0; turn < 2; turn++) {
      await assert.rejects(shared.ask("a", never(), fail, round), /away 1$/);
    }
  });
});
