import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { KnownTexts } from "../../../src/system/known_texts.ts";

/** A text whose forms are many times as long as itself. */
const quotes = (name: string) => `${name}${"\"'$".repeat(100)}`;
const hex = (text: string) => Buffer.from(text).toString("hex");
const LIMITS = { owner: 50_000, all: 200_000 };

describe("KnownTexts with texts whose forms are long", () => {
  it("knows those of an owner that has too many in their usual forms alone", () => {
    const known = new KnownTexts(16, LIMITS);
    for (let index = 0; index < 20; index++) known.add(quotes(`first${index}`), "one");
    const late = quotes("late");
    known.add(late, "one");
    assert.equal(known.mask(`a ${late} b`, "***"), "a *** b");
    assert.equal(known.mask(JSON.stringify(late), "***"), '"***"');
    assert.equal(known.mask(hex(late), "***"), hex(late));
    assert.equal(known.mask(hex(quotes("first0")), "***"), "***");
  });

  it("knows those of others and of the program in all forms all the same", () => {
    const known = new KnownTexts(16, LIMITS);
    for (let index = 0; index < 20; index++) known.add(quotes(`first${index}`), "one");
    known.add(quotes("other"), "two");
    known.add(quotes("program"), "");
    for (const name of ["other", "program"]) {
      assert.equal(known.mask(hex(quotes(name)), "***"), "***", name);
    }
  });

  it("forgets the owner that has the most when all of them have too many", () => {
    const known = new KnownTexts(16, LIMITS);
    known.add("small-secret", "small");
    for (let index = 0; index < 600; index++) known.add(quotes(`much${index}-`), "much");
    assert.equal(known.mask("small-secret", "***"), "***");
    assert.equal(known.mask(quotes("much0-"), "***"), quotes("much0-"));
  });

  it("has nothing left of an owner that is forgotten", () => {
    const known = new KnownTexts(16, LIMITS);
    const texts = Array.from({ length: 30 }, (_, index) => quotes(`text${index}-`));
    for (const owner of ["one", "two"]) for (const text of texts) known.add(text, owner);
    known.forget("one");
    for (const text of texts) assert.equal(known.mask(text, "***"), "***");
    known.forget("two");
    for (const text of texts) {
      assert.equal(known.mask(text, "***"), text);
      assert.equal(known.mask(hex(text), "***"), hex(text));
    }
  });
});
