import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createLog,
  createRedactor,
  MOST_OF_AN_OWNER,
  NO_STACK,
  redactOutput,
  redactTexts,
  stackAsOwner,
  visible,
} from "../../../src/system/mod.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** What a repository makes unprintable: ordinary words, a commit, and punctuation of JSON. */
function hostileRedactor() {
  const redactor = createRedactor();
  for (const each of ["complete", "succeeded", "2026-11", COMMIT, '","level":"', '"},{"']) {
    redactor.add(each, "stack default/bad");
  }
  return redactor;
}

describe("redactTexts()", () => {
  const redact = (text: string) => hostileRedactor().redact(text);

  it("leaves what the program says of a thing", () => {
    const said = {
      status: "complete",
      stack: "complete",
      commit: COMMIT,
      started: "2026-11-22T01:00:00.000Z",
      targets: [{ project: "complete", state: "succeeded" }],
    };
    assert.deepEqual(redactTexts(said, redact), said);
  });

  it("masks what somebody wrote, also in fields of these names", () => {
    const wrote = { status: "it is complete", message: "complete", stack: "a complete b" };
    assert.deepEqual(redactTexts(wrote, redact), {
      status: "it is ***",
      message: "***",
      stack: "a *** b",
    });
  });
});

describe("redactOutput()", () => {
  const redact = (text: string) => hostileRedactor().redact(text);

  for (const indent of [undefined, 2]) {
    it(`leaves JSON JSON, whatever is a secret, with indent ${indent ?? 0}`, () => {
      const value = { a: "b", level: "c", d: [{ e: "complete" }, { f: "g" }], status: "succeeded" };
      const text = `${JSON.stringify(value, undefined, indent)}\n`;
      const shown = redactOutput(text, redact);
      assert.deepEqual(JSON.parse(shown), { ...value, d: [{ e: "***" }, { f: "g" }] });
    });
  }

  it("masks other texts as a whole", () => {
    assert.equal(redactOutput("{ it is complete\n", redact), "{ it is ***\n");
  });
});

describe("a log with secrets that are ordinary words and punctuation", () => {
  it("has lines that are JSON and say what they said", () => {
    const lines: string[] = [];
    const log = createLog({
      level: "info",
      timeZone: "UTC",
      format: "json",
      redactor: hostileRedactor(),
      write: (line) => void lines.push(line),
    });
    log.info("a run", {
      status: "succeeded",
      stack: "complete",
      text: "complete",
      n: '","level":"',
    });
    const { time: _time, ...line } = JSON.parse(lines[0] ?? "");
    assert.deepEqual(line, {
      level: "info",
      msg: "a run",
      status: "succeeded",
      stack: "complete",
      text: "***",
      n: "***",
    });
  });
});

describe("secrets of an owner", () => {
  it("are forgotten with it, but those that another one has", () => {
    const redactor = createRedactor();
    redactor.add("hunter2-one", "stack a");
    redactor.add("hunter2-both", "stack a");
    redactor.add("hunter2-both", "stack b");
    redactor.add("hunter2-ours");
    const text = "hunter2-one hunter2-both hunter2-ours";
    assert.equal(redactor.redact(text), "*** *** ***");
    redactor.forget("stack a");
    assert.equal(redactor.redact(text), "hunter2-one *** ***");
    redactor.forget("stack b");
    assert.equal(redactor.redact(text), "hunter2-one hunter2-both ***");
  });

  it("are bounded, the oldest are forgotten first; those of the program never", () => {
    const redactor = createRedactor();
    redactor.add("hunter2-ours");
    redactor.add("hunter2-first", "stack a");
    for (let index = 0; index < MOST_OF_AN_OWNER; index++) redactor.add(`x${index}-y`, "stack a");
    assert.equal(redactor.redact("hunter2-first hunter2-ours x7-y"), "hunter2-first *** ***");
  });

  for (const [what, text] of [["random", "xq81Zr0pKw77"], ["words", "of-letters"]] as const) {
    it(`are bounded by all that they are together, and who has most loses first: ${what}`, () => {
      const redactor = createRedactor({ owner: 40_000, all: 20_000 });
      const [few, other] = ["few", "other"].map((name) =>
        stackAsOwner({ context: "default", name })
      );
      for (const each of ["xq81Zr0pKw55-few", "opensesame"]) redactor.add(each, few);
      const long = (at: number) => `${String.fromCharCode(97 + at)}${text}${"-and".repeat(200)}`;
      for (let at = 0; at < 20; at++) redactor.add(long(at), other);
      assert.equal(redactor.redact("xq81Zr0pKw55-few opensesame", few), "*** ***");
      assert.equal(redactor.redact(long(0), other), long(0));
      assert.equal(redactor.redact(long(19), other), "***");
    });
  }

  it("that are ordinary words are masked in texts about it alone, others everywhere", () => {
    const redactor = createRedactor();
    const [bad, other] = ["bad", "other"].map((name) => stackAsOwner({ context: "default", name }));
    redactor.add("complete", bad);
    redactor.add("xq81Zr0pKw77", bad);
    redactor.add("opensesame", other);
    redactor.add("ourpassword");
    redactor.add("decrypted", "file 1");
    const text = "complete xq81Zr0pKw77 opensesame ourpassword decrypted";
    assert.equal(redactor.redact(text, bad), "*** *** opensesame *** ***");
    assert.equal(redactor.redact(text, other), "complete *** *** *** ***");
    assert.equal(redactor.redact(text, NO_STACK), "complete *** opensesame *** ***");
    assert.equal(redactor.redact(text), "*** *** *** *** ***");
    redactor.forget(bad ?? "");
    assert.equal(redactor.redact(text), "complete xq81Zr0pKw77 *** *** ***");
  });

  it("that are words of stacks without number are bounded as well", () => {
    const redactor = createRedactor();
    const stack = (index: number) => stackAsOwner({ context: "default", name: `s${index}` });
    for (let index = 0; index < 1500; index++) redactor.add("sesame", stack(index));
    assert.equal(redactor.redact("sesame", stack(1)), "sesame");
    assert.equal(redactor.redact("sesame", stack(1499)), "***");
  });

  it("are masked in lines of the log that are about it", () => {
    const redactor = createRedactor();
    redactor.add("complete", stackAsOwner({ context: "default", name: "bad" }));
    const lines: string[] = [];
    const log = createLog({
      level: "info",
      timeZone: "UTC",
      format: "text",
      redactor,
      write: (line) => void lines.push(line.trim().split(" complete")[0] ?? ""),
    });
    log.info("1 complete");
    log.info("2 complete", { context: "default", stack: "good" });
    log.info("3 complete", { context: "default", stack: "bad" });
    log.info("4 complete", { stack: "bad" });
    assert.deepEqual(lines.map((line) => /\d( \*\*\*)?(?= |$)/g.exec(line.slice(17))?.[0]), [
      "1",
      "2",
      "3 ***",
      "4 ***",
    ]);
  });

  // Those of stacks may be words, those of others never: each kind has a bound of its own.
  for (const kind of ["stack", "file"]) {
    it(`of owners without number are bounded as well: each a ${kind}`, () => {
      const redactor = createRedactor();
      redactor.add("hunter2-ours");
      for (let index = 0; index < 1500; index++) {
        redactor.add(`hunter2-${index}-x`, `${kind} ${index}`);
      }
      const shown = redactor.redact("hunter2-ours hunter2-1-x hunter2-1499-x");
      assert.equal(shown, "*** hunter2-1-x ***");
    });
  }
});

describe("visible()", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["colours and moves", "\u001b[2J\u001b[31mred\u001b[0m", "\\u001b[2J\\u001b[31mred\\u001b[0m"],
    ["titles of the window", "\u001b]0;x\u0007", "\\u001b]0;x\\u0007"],
    ["the eight-bit form", "\u009b31m", "\\u009b31m"],
    ["carriage returns and deletes", "a\rb\bc\u007f", "a\\u000db\\u0008c\\u007f"],
    ["marks of direction", "a\u202eb\u2066", "a\\u202eb\\u2066"],
  ];
  for (const [what, text, shown] of rows) {
    it(`visible() shows ${what}`, () => assert.equal(visible(text), shown));
  }

  it("visible() leaves lines, tabs and other scripts alone", () => {
    const text = "a\tb\nç ü 日本 🚢 …\n";
    assert.equal(visible(text), text);
  });

  it("visible() stands before the text log", () => {
    const lines: string[] = [];
    createLog({
      level: "info",
      timeZone: "UTC",
      format: "text",
      redactor: createRedactor(),
      write: (line) => void lines.push(line),
    }).warning("the container said \u001b[2J", { last: "\u009b31m" });
    assert.match(lines[0] ?? "", /said \\u001b\[2J last=\\u009b31m\n$/);
  });
});
