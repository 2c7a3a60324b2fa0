import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { createKeyedQueue } from "../../../src/source/keyed_queue.ts";
import { AnswerParser, ObjectReader } from "../../../src/source/object_reader.ts";
import type { RunningCommand } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

describe("AnswerParser.push()", () => {
  const id = "a".repeat(40);
  const stream = new TextEncoder().encode(
    `${id} blob 5\nab\ncd\nrefs/x^{commit} missing\n${id} blob 0\n\n${id} tree 3\n\0\n\0\n`,
  );
  const expected = [
    ["blob", [97, 98, 10, 99, 100]],
    undefined,
    ["blob", []],
    ["tree", [0, 10, 0]],
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`finds the same answers in chunks of ${size} bytes`, () => {
      const parser = new AnswerParser();
      const answers = [];
      for (let at = 0; at < stream.length; at += size) {
        answers.push(...parser.push(stream.subarray(at, at + size)));
      }
      const found = answers.map((each) => each && [each.type, [...each.data]]);
      assert.deepEqual(found, expected);
    });
  }
  it("tells the size that is on its way", () => {
    const parser = new AnswerParser();
    parser.push(new TextEncoder().encode(`${id} blob 5000\nab`));
    assert.equal(parser.awaited, 5000);
  });
});

describe("ObjectReader.read()", () => {
  it("ends a program that hangs, says so, and asks another one next time", async () => {
    const clock = createFakeClock();
    const started: string[] = [];
    const answer = new TextEncoder().encode(`${"b".repeat(40)} blob 2\nok\n`);
    const reader = new ObjectReader({
      start: () => Promise.resolve(started.push("") === 1 ? silent(started) : answering(answer)),
      clock,
      idleMs: 1e9,
      answerMs: 300_000,
      largest: 100,
    });
    const signal = new AbortController().signal;
    const asked = assert.rejects(
      reader.read("HEAD", signal),
      (error) =>
        isStackwrightError(error, "timeout") && /did not answer within 300 s/.test(error.message),
    );
    await clock.advance(299_999);
    assert.deepEqual(started, [""]);
    await clock.advance(1);
    await asked;
    assert.deepEqual(started, ["", "closed"]);
    const second = await reader.read("HEAD", signal);
    assert.equal(new TextDecoder().decode(second?.data), "ok");
    await reader.close();
    assert.equal(clock.sleepers, 0);
  });
});

/** A program that never says a word. */
function silent(log: string[]): RunningCommand {
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  return {
    write: () => {},
    // deno-lint-ignore require-yield
    output: (async function* () {
      await ended;
    })(),
    close: () => {
      if (!log.includes("closed")) log.push("closed");
      end();
      return Promise.resolve();
    },
  };
}

/** A program that gives `answer` to its one question. */
function answering(answer: Uint8Array): RunningCommand {
  let ask = () => {};
  let end = () => {};
  const asked = new Promise<void>((resolve) => ask = resolve);
  const ended = new Promise<void>((resolve) => end = resolve);
  return {
    write: () => ask(),
    output: (async function* () {
      await asked;
      yield answer;
      await ended;
    })(),
    close: () => Promise.resolve(end()),
  };
}

describe("KeyedQueue.run()", () => {
  const signal = new AbortController().signal;

  it("lets one task at a time pass for each key, in order", async () => {
    const queue = createKeyedQueue();
    const log: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const first = queue.run("a", signal, async () => {
      log.push("first");
      await gate;
      log.push("first done");
    });
    const second = queue.run("a", signal, () => Promise.resolve(void log.push("second")));
    await queue.run("b", signal, () => Promise.resolve(void log.push("other key")));
    open();
    await Promise.all([first, second]);
    assert.deepEqual(log, ["first", "other key", "first done", "second"]);
  });

  it("goes on after a task that failed", async () => {
    const queue = createKeyedQueue();
    await assert.rejects(queue.run("a", signal, () => Promise.reject(new Error("no"))), /no/);
    assert.equal(await queue.run("a", signal, () => Promise.resolve(1)), 1);
  });

  it("gives up waiting when aborted, without letting others overtake", async () => {
    const queue = createKeyedQueue();
    const log: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const first = queue.run("a", signal, async () => {
      await gate;
      log.push("first");
    });
    const stop = new AbortController();
    const waiting = queue.run("a", stop.signal, () => Promise.resolve(void log.push("never")));
    const third = queue.run("a", signal, () => Promise.resolve(void log.push("third")));
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    open();
    await Promise.all([first, third]);
    assert.deepEqual(log, ["first", "third"]);
  });
});
