import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ObjectReader } from "../../../../src/source/git/object_reader.ts";
import type { RunningCommand } from "../../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";

const signal = new AbortController().signal;
const ID = "a".repeat(40);

/** A program that says what a test lets it say. */
function createProgram() {
  const asked: string[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const output = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  let ended = false;
  const command: RunningCommand = {
    write: (text) => void asked.push(text.trim()),
    output,
    close: () => {
      if (!ended) controller.close();
      ended = true;
      return Promise.resolve();
    },
  };
  return {
    command,
    asked,
    get ended() {
      return ended;
    },
    say: (text: string) => controller.enqueue(new TextEncoder().encode(text)),
  };
}

/** A reader, and the programs it has started. */
function createReader() {
  const clock = createFakeClock();
  const programs: ReturnType<typeof createProgram>[] = [];
  const start = () => {
    const program = createProgram();
    programs.push(program);
    return Promise.resolve(program.command);
  };
  const reader = new ObjectReader({ start, clock, idleMs: 1000, answerMs: 5000, largest: 100 });
  const read = (name: string) => {
    const answer = reader.read(name, signal);
    answer.catch(() => {});
    return answer;
  };
  return { clock, programs, reader, read };
}

describe("ObjectReader.size()", () => {
  it("is told without the content, also of an object that is too large to be read", async () => {
    const { programs, reader, read } = createReader();
    const sizes = [reader.size("one", signal), reader.size("two", signal)];
    const content = read("three");
    await settle();
    assert.deepEqual(programs[0]?.asked, ["info one", "info two", "contents three"]);
    programs[0]?.say(`${ID} blob 101\ntwo missing\n${ID} blob 2\nab\n`);
    assert.deepEqual(await Promise.all(sizes), [101, undefined]);
    assert.equal((await content)?.size, 2);
    assert.equal(programs[0]?.ended, false);
    await reader.close();
  });
});

describe("ObjectReader.read()", () => {
  it("asks one program for everything, and ends it when it is idle", async () => {
    const { clock, programs, read } = createReader();
    const answers = [read("one"), read("two")];
    await settle();
    programs[0]?.say(`${ID} blob 2\nab\ntwo missing\n`);
    assert.deepEqual((await Promise.all(answers)).map((each) => each?.type), ["blob", undefined]);
    assert.deepEqual(programs.map(({ asked }) => asked), [["contents one", "contents two"]]);
    await clock.advance(999);
    assert.equal(programs[0]?.ended, false);
    await clock.advance(1001);
    assert.equal(programs[0]?.ended, true);
    assert.equal(clock.sleepers, 0);
  });

  it("gives up a program that says nothing, and starts another one for the next question", async () => {
    const { clock, programs, read } = createReader();
    const hung = read("one");
    await settle();
    await clock.advance(4_000);
    const later = read("two");
    await clock.advance(1_000);
    await assert.rejects(hung, { code: "timeout" });
    await assert.rejects(later, { code: "timeout" });
    assert.equal(programs[0]?.ended, true);
    const next = read("three");
    await settle();
    programs[1]?.say("three missing\n");
    assert.equal(await next, undefined);
  });

  it("waits for a program that says something now and then", async () => {
    const { clock, programs, read } = createReader();
    const slow = read("one");
    await settle();
    for (const part of [`${ID} blob`, " 3\n", "a", "b", "c", "\n"]) {
      await clock.advance(4_900);
      programs[0]?.say(part);
      await settle();
    }
    assert.equal((await slow)?.data.length, 3);
  });

  it("starts another program when one died, and only one", async () => {
    const { programs, read } = createReader();
    const answer = read("one");
    for (const index of [0, 1]) {
      await settle();
      await programs[index]?.command.close();
    }
    await assert.rejects(answer, { code: "source_invalid" });
    assert.equal(programs.length, 2);
  });

  it("refuses what is too large, and ends the program that would send it", async () => {
    const { programs, read } = createReader();
    const answer = read("one");
    await settle();
    programs[0]?.say(`${ID} blob 101\n`);
    await assert.rejects(answer, { code: "source_invalid" });
    assert.equal(programs[0]?.ended, true);
  });

  it("leaves the program to others when the one who asked does not want to know any more", async () => {
    const { programs, reader, read } = createReader();
    const stop = new AbortController();
    const given = reader.read("one", stop.signal);
    const other = read("two");
    await settle();
    stop.abort(new Error("enough"));
    await assert.rejects(given, /enough/);
    programs[0]?.say("one missing\ntwo missing\n");
    assert.equal(await other, undefined);
  });

  it("close() ends the program and its timer", async () => {
    const { clock, programs, reader, read } = createReader();
    const answer = read("one");
    await settle();
    programs[0]?.say("one missing\n");
    await answer;
    await reader.close();
    assert.equal(programs[0]?.ended, true);
    await settle();
    assert.equal(clock.sleepers, 0);
  });
});
