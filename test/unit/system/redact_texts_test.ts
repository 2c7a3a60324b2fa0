import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import {
  claimAsOwner,
  createLog,
  createRedactor,
  EVERYONE,
  MOST_OF_AN_OWNER,
  redactLists,
  redactOutput,
  redactTexts,
  sourceAsOwner,
  stackAsOwner,
  visible,
} from "../../../src/system/mod.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** What a repository makes unprintable: ordinary words, a commit, and punctuation of JSON. */
function hostileRedactor() {
  const redactor = createRedactor();
  for (const each of ["complete", "succeeded", "2026-11", COMMIT, '","level":"', '"},{"']) {
    for (const owner of ["stack default/bad", "source bad"]) redactor.add(each, owner);
  }
  return redactor;
}

describe("redactTexts()", () => {
  const redact = (text: string) => hostileRedactor().redact(text, "stack default/bad");

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

  it("leaves what the fields of a decision are, while nothing may be told of a stack", () => {
    const decision = {
      trigger: "poll",
      origin: "automatic",
      revision: "refs/heads/main (4f1c2d3aaaaa)",
      kind: "skip",
      reason: "no_changes",
    };
    const all = () => "***";
    assert.deepEqual(redactTexts(decision, all), decision);
    const wrote = { reason: "hunterwolf", revision: "a token", origin: "Not a word" };
    assert.deepEqual(Object.values(redactTexts(wrote, all)), ["***", "***", "***"]);
  });

  it("leaves out what is nested so deep that looking at it would end the stack", () => {
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ complete: inner })]) {
      let value: unknown = "complete";
      for (let level = 0; level < 200; level++) value = wrap(value);
      const whole = JSON.stringify(redactTexts(value, redact));
      assert.match(whole, /"\*\*\*"/, "what somebody may have written is there");
      for (let level = 0; level < 50_000; level++) value = wrap(value);
      const cut = JSON.stringify(redactTexts(value, redact));
      assert.match(cut, /nested too deep/);
      assert.ok(cut.length < 5_000);
    }
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
  const redact = (text: string) => hostileRedactor().redact(text, "stack default/bad");

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
      repository: "bad",
      text: "complete",
      n: '","level":"',
    });
    const { time: _time, ...line } = JSON.parse(lines[0] ?? "");
    assert.deepEqual(line, {
      level: "info",
      msg: "a run",
      status: "succeeded",
      stack: "complete",
      repository: "bad",
      text: "***",
      n: "***",
    });
  });
});

describe("secrets of an owner", () => {
  it("are forgotten with it, but those that another one has", () => {
    const redactor = createRedactor();
    redactor.add("hunter2x-one", "stack a");
    redactor.add("hunter2x-both", "stack a");
    redactor.add("hunter2x-both", "stack b");
    redactor.add("hunter2-ours");
    const text = "hunter2x-one hunter2x-both hunter2-ours";
    assert.equal(redactor.redact(text), "*** *** ***");
    redactor.forget("stack a");
    assert.equal(redactor.redact(text), "hunter2x-one *** ***");
    redactor.forget("stack b");
    assert.equal(redactor.redact(text), "hunter2x-one hunter2x-both ***");
  });

  it("are bounded, the oldest are forgotten first; those of the program never", () => {
    const redactor = createRedactor();
    redactor.add("hunter2-ours");
    redactor.add("hunter2x-first", "stack a");
    for (let index = 0; index < 4 * MOST_OF_AN_OWNER; index++) {
      redactor.add(`xq81Zr0pKw${index}`, "stack a");
    }
    assert.equal(
      redactor.redact("hunter2x-first hunter2-ours xq81Zr0pKw7"),
      "hunter2x-first *** ***",
    );
  });

  for (const [what, text] of [["random", "-an5x9"], ["words", "-and"]] as const) {
    it(`are bounded by all that they are together, and texts about who has most are not told: ${what}`, () => {
      const redactor = createRedactor({ group: 40_000, all: 140_000 });
      const [few, other] = ["stack few", "stack other"];
      for (const each of ["xq81Zr0pKw55-few", "opensesame"]) redactor.add(each, few);
      const long = (at: number) => `${String.fromCharCode(97 + at).repeat(12)}${text.repeat(200)}`;
      for (let at = 0; at < 26; at++) redactor.add(long(at), other);
      assert.equal(redactor.redact("xq81Zr0pKw55-few opensesame", few), "*** ***");
      assert.equal(redactor.redact("it failed", few), "it failed");
      assert.equal(redactor.redact("it failed", other), "***");
    });
  }

  it("that are ordinary words are masked in texts about it alone, others everywhere", () => {
    const redactor = createRedactor();
    const [bad, other] = ["stack bad", "stack other"];
    redactor.add("complete", bad);
    redactor.add("xq81Zr0pKw77", bad);
    redactor.add("opensesame", other);
    redactor.add("ourpassword");
    redactor.add("decrypted", "source x");
    const text = "complete xq81Zr0pKw77 opensesame ourpassword decrypted";
    assert.equal(redactor.redact(text, bad), "*** *** opensesame *** decrypted");
    assert.equal(redactor.redact(text, other), "complete *** *** *** decrypted");
    assert.equal(redactor.redact(text), "complete *** opensesame *** decrypted");
    assert.equal(redactor.redact(text, bad, "source x"), "*** *** opensesame *** ***");
    redactor.belongs(bad, "source x");
    assert.equal(redactor.redact(text, bad), "*** *** opensesame *** ***");
    assert.equal(redactor.redact(text, EVERYONE), "*** *** *** *** ***");
    assert.equal(redactor.redact(text, "source x"), "complete *** opensesame *** ***");
    redactor.forget(bad);
    // With the last stack of a source all that it had is forgotten.
    assert.equal(redactor.redact(text, bad), "complete xq81Zr0pKw77 opensesame *** decrypted");
  });

  it("of those who name a stack in vain are forgotten when it is settled whose it is", () => {
    const redactor = createRedactor();
    const key = { context: "default", name: "shop" };
    const stack = stackAsOwner(key);
    redactor.add("complete", claimAsOwner(key, "host/evil of x"));
    redactor.add("opensesame", claimAsOwner(key, "host/me"));
    redactor.belongs(stack, "source host/evil of x");
    const text = "complete opensesame";
    assert.equal(redactor.redact(text, stack), "*** ***");
    assert.equal(redactor.redact(text), text);
    redactor.settle(stack, "source host/me");
    assert.equal(redactor.redact(text, stack), "complete ***");
    redactor.forget(stack);
    assert.equal(redactor.redact(text, stack, EVERYONE), text);
  });

  it("of all sources that a stack is made of are masked in texts about it, until one is settled", () => {
    const redactor = createRedactor();
    const key = { context: "default", name: "shop" };
    const stack = stackAsOwner(key);
    redactor.add("complete", "source host/me");
    redactor.add("opensesame", "source host/mine");
    redactor.add("decrypted", "source host/evil of x");
    const text = "complete opensesame decrypted";
    const claims = ["host/me", "host/evil of x"].map((each) => claimAsOwner(key, each));
    redactor.belongs(stack, "source host/me", "source host/mine");
    redactor.belongs(stack, "source host/evil of x");
    assert.equal(redactor.redact(text, stack), "*** *** ***");
    assert.deepEqual(claims.map((each) => redactor.redact(text, each)), [
      "*** *** decrypted",
      "complete opensesame ***",
    ]);
    redactor.settle(stack, "source host/me");
    redactor.belongs(stack, "source host/me");
    assert.equal(redactor.redact(text, stack), "*** *** decrypted");
    redactor.belongs(stack, "source host/me", "source host/me");
    assert.equal(redactor.redact(text, stack), "*** opensesame decrypted");
  });

  it("that look random have forms that are words, which are masked in texts about it alone", () => {
    const redactor = createRedactor();
    // In base64, and after a megabyte of what looks random.
    const secret = Buffer.from("deploymentIsHealthy+", "base64").toString("latin1");
    redactor.add(secret, "stack bad");
    const form = Buffer.from(secret).toString("base64");
    redactor.add(`${"xq81Zr0pKw77".repeat(512)}settled`, "stack bad");
    redactor.add(
      `${"xq81Zr0pKw77-".repeat(4)}is settled since yesterday by the people`,
      "stack bad",
    );
    const text = `${form} is settled since yesterday by the people`;
    assert.equal(redactor.redact(text).endsWith("settled since yesterday by the people"), true);
  });

  it("of many owners with little push nobody out, nor do many stacks of one source", () => {
    const redactor = createRedactor({ group: 400_000, all: 1_000_000 });
    redactor.add("xq81Zr0pKw55-few", "stack few");
    redactor.add("opensesame", "stack few");
    const quotes = "\"\\'$".repeat(50);
    for (let at = 0; at < 300; at++) {
      redactor.belongs(`stack ${at}`, "source bad");
      redactor.add(`xq81Zr0pKw77-${at}${quotes}`, `stack ${at}`);
      redactor.add("sesame", `stack ${at}`);
    }
    assert.equal(redactor.redact("xq81Zr0pKw55-few opensesame", "stack few"), "*** ***");
    assert.equal(redactor.redact(Buffer.from("xq81Zr0pKw55-few").toString("hex")), "***");
  });

  it("are masked in lines of the log that are about it", () => {
    const redactor = createRedactor();
    redactor.add("complete", stackAsOwner({ context: "default", name: "bad" }));
    redactor.add("complete", sourceAsOwner("h/bad"));
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
    log.info("5 complete", { repository: "h/bad" });
    log.info("6 complete", { repository: "h/good" });
    assert.deepEqual(lines.map((line) => /\d( \*\*\*)?(?= |$)/g.exec(line.slice(17))?.[0]), [
      "1",
      "2",
      "3 ***",
      "4 ***",
      "5 ***",
      "6",
    ]);
  });
});

describe("redactLists()", () => {
  const value = {
    content: [{ status: "complete", text: "complete a" }, ["a", { a: "b" }], "aa", 1, null],
    job_id: "a",
    nested: { list: ["a"] },
  };
  const redact = (text: string) => text.replaceAll("a", "***").replaceAll("complete", "word");

  it("gives what redactTexts() gives", async () => {
    assert.deepEqual(await redactLists(value, redact), redactTexts(value, redact));
    let deep: object = { a: "b" };
    for (let level = 3; level < 260; level++) {
      deep = { a: deep };
      assert.deepEqual(
        await redactLists({ list: [deep] }, redact),
        redactTexts({ list: [deep] }, redact),
      );
    }
  });

  it("tells after each entry of a list how much it had", async () => {
    const told: number[] = [];
    const after = (characters: number) => void told.push(characters);
    await redactLists(value, redact, { after: (characters) => after(characters) as undefined });
    assert.deepEqual(told, [10, 2, 2, 0, 0]);
  });
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
