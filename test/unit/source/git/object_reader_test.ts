import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ObjectReader } from "../../../../src/source/git/object_reader.ts";
import { createFairLimiter, type RunningCommand } from "../../../../src/system/mod.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";

const signal = new AbortController().signal;
const ID = "a".repeat(40);

/** A program that says what a test lets it say. */
function createProgram() {
  const asked: string[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const output = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  let ended = false;
  let rests = false;
  const command: RunningCommand = {
    write: (text) => {
      rests = false;
      asked.push(text.trim());
    },
    rest: () => void (rests = true),
    output,
    lastWords: () => "",
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
    get rests() {
      return rests;
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
  const parts = { start, clock, idleMs: 1000, answerMs: 5000, largest: 300 * 1024, name: "shop" };
  const reader = new ObjectReader({ ...parts, large: createFairLimiter(1) });
  const read = (name: string) => {
    const answer = reader.info(name, signal);
    answer.catch(() => {});
    return answer;
  };
  return { clock, programs, reader, read };
}

const LARGE = 300 * 1024;

describe("ObjectReader.contents()", () => {
  it("has one large object in use at a time", async () => {
    const { programs, reader } = createReader();
    let used = 0;
    const until = Promise.withResolvers<void>();
    const use = () => {
      used++;
      return until.promise;
    };
    const large = { id: ID, type: "blob", size: LARGE };
    const all = [
      reader.contents(large, signal, use),
      reader.contents(large, signal, use),
      reader.contents({ ...large, size: 2 }, signal, use),
    ];
    await settle();
    assert.equal(programs[0]?.asked.length, 2);
    programs[0]?.say(`${ID} blob 2\nab\n${ID} blob 2\nab\n`);
    await settle();
    assert.deepEqual([used, programs[0]?.asked.length], [2, 2]);
    until.resolve();
    await settle();
    assert.equal(programs[0]?.asked.length, 3);
    programs[0]?.say(`${ID} blob 2\nab\n`);
    await Promise.all(all);
    await reader.close();
  });

  it("asks for nothing that is too large for its type", async () => {
    const { programs, reader } = createReader();
    for (
      const [type, size, what] of [
        ["blob", LARGE + 1, "file"],
        ["commit", 1024 * 1024 + 1, "commit"],
        ["tag", 1024 * 1024 + 1, "tag"],
        ["tree", 16 * 1024 * 1024 + 1, "directory"],
      ] as const
    ) {
      const refused = { code: "source_invalid", message: RegExp(`^the ${what} a{12} of`) };
      await assert.rejects(reader.contents({ id: ID, type, size }, signal), refused);
    }
    assert.equal(programs.length, 0);
  });
});

describe("ObjectReader.commit()", () => {
  it("is found without its content, by way of few tags", async () => {
    const { programs, reader } = createReader();
    const tag = `object ${ID}\ntype commit\n`;
    const size = 60 * 1024 * 1024;
    const found = reader.commit("refs/x", signal);
    await settle();
    programs[0]?.say(`${ID} tag ${tag.length}\n`);
    await settle();
    programs[0]?.say(`${ID} tag ${tag.length}\n${tag}\n`);
    await settle();
    programs[0]?.say(`${ID} commit ${size}\n`);
    assert.deepEqual(await found, { id: ID, type: "commit", size, data: new Uint8Array() });
    assert.deepEqual(programs[0]?.asked, ["info refs/x", `contents ${ID}`, `info ${ID}`]);
    const endless = reader.commit("refs/x", signal);
    for (let level = 0; level < 11; level++) {
      await settle();
      programs[0]?.say(`${ID} tag ${tag.length}\n`);
      await settle();
      if (level < 10) programs[0]?.say(`${ID} tag ${tag.length}\n${tag}\n`);
    }
    assert.equal(await endless, undefined);
    await reader.close();
  });
});

describe("ObjectReader.info()", () => {
  it("lets the program rest while no question is open", async () => {
    const { programs, reader, read } = createReader();
    const rests = () => programs[0]?.rests;
    const answers = [read("one"), read("two")];
    await settle();
    programs[0]?.say(`${ID} blob 2\n${ID}`);
    await answers[0];
    assert.equal(rests(), false);
    programs[0]?.say(" blob 2\n");
    await answers[1];
    await settle();
    assert.equal(rests(), true);
    const third = read("three");
    await settle();
    assert.equal(rests(), false);
    programs[0]?.say(`${ID} blob 2\n`);
    await third;
    await reader.close();
  });

  it("asks one program for everything, and ends it when it is idle", async () => {
    const { clock, programs, read } = createReader();
    const answers = [read("one"), read("two")];
    await settle();
    programs[0]?.say(`${ID} blob 2\ntwo missing\n`);
    assert.deepEqual((await Promise.all(answers)).map((each) => each?.type), ["blob", undefined]);
    assert.deepEqual(programs.map(({ asked }) => asked), [["info one", "info two"]]);
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
    const { clock, programs, reader } = createReader();
    const slow = reader.contents({ id: ID, type: "blob", size: 3 }, signal);
    await settle();
    for (const part of [`${ID} blob`, " 3\n", "a", "b", "c", "\n"]) {
      await clock.advance(4_900);
      programs[0]?.say(part);
      await settle();
    }
    assert.equal((await slow).data.length, 3);
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

  it("leaves the program to others when the one who asked does not want to know any more", async () => {
    const { programs, reader, read } = createReader();
    const stop = new AbortController();
    const given = reader.info("one", stop.signal);
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
