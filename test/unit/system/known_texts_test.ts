import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { KnownTexts, maskKnown } from "../../../src/system/known_texts.ts";
import { randomFrom } from "../../fakes/random.ts";

/** A text whose forms are many times as long as itself. */
const quotes = (name: string) => `${name}${"\"'$".repeat(100)}`;
const hex = (text: string) => Buffer.from(text).toString("hex");
const LIMITS = { group: 50_000, all: 400_000 };
const ALL = { random: true, words: true };
const mask = (known: KnownTexts, text: string) => maskKnown(text, [known], "***");
const add = (known: KnownTexts, text: string, owner: string) =>
  known.add(text, { owner, group: owner }, ALL);

describe("KnownTexts with texts whose forms are long", () => {
  it("knows those of an owner that has too many in their usual forms alone", () => {
    const known = new KnownTexts(LIMITS);
    for (let index = 0; index < 20; index++) add(known, quotes(`first${index}`), "one");
    const late = "late-xq81Zr0pKw77".repeat(40);
    add(known, late, "one");
    assert.equal(mask(known, `a ${late} b`), "a *** b");
    assert.equal(mask(known, JSON.stringify(late)), '"***"');
    assert.equal(mask(known, hex(late)), hex(late));
    assert.equal(mask(known, hex(quotes("first0"))), "***");
  });

  it("knows those of others and of the program in all forms all the same", () => {
    const known = new KnownTexts(LIMITS);
    for (let index = 0; index < 20; index++) add(known, quotes(`first${index}`), "one");
    add(known, quotes("other"), "two");
    add(known, quotes("program"), "");
    for (const name of ["other", "program"]) {
      assert.equal(mask(known, hex(quotes(name))), "***", name);
    }
  });

  it("knows those of many that have much in their usual forms rather than not at all", () => {
    const known = new KnownTexts({ group: 50_000, all: 4_000_000 });
    const [groups, each] = [40, 10];
    const text = (group: number, at: number) => `xq81Zr0pKw77é'"$-${group}-${at}`;
    for (let group = 0; group < groups; group++) {
      for (let at = 0; at < each; at++) add(known, text(group, at), `${group}`);
    }
    assert.ok(known.size < 4_000_000, `${known.size}`);
    for (let group = 0; group < groups; group++) {
      assert.equal(mask(known, hex(text(group, 0))), "***");
      assert.equal(mask(known, text(group, each - 1)), "***");
    }
  });

  it("has nothing left of an owner that is forgotten", () => {
    const known = new KnownTexts(LIMITS);
    const texts = Array.from({ length: 30 }, (_, index) => quotes(`text${index}-`));
    for (const owner of ["one", "two"]) for (const text of texts) add(known, text, owner);
    known.forget("one");
    for (const text of texts) assert.equal(mask(known, text), "***");
    known.forget("two");
    for (const text of texts) {
      assert.equal(mask(known, text), text);
      assert.equal(mask(known, hex(text)), hex(text));
    }
  });
});

describe("KnownTexts of owners that share texts", () => {
  it("counts for each what was added for it, and nothing when it is taken back", () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = randomFrom(seed);
      const known = new KnownTexts({ group: 20_000, all: 100_000 });
      const owners = ["one", "two", "three"];
      for (let step = 0; step < 60; step++) {
        const owner = owners[random(owners.length)] ?? "";
        const what = random(10);
        if (what === 0) known.forget(owner);
        else if (what === 1) known.halve(owner);
        else {
          const forms = { random: random(2) === 0, words: random(2) === 0 };
          const text = random(2) === 0 ? `word word ${random(6)}` : quotes(`xq81Zr0p${random(6)}`);
          known.add(text, { owner, group: ["a", "b"][random(2)] ?? "" }, forms);
        }
        for (const { owner: whose, size } of known.sizes()) {
          assert.ok(size >= 0, `${whose} has ${size} after step ${step} of seed ${seed}`);
        }
      }
      for (const owner of owners) known.forget(owner);
      assert.deepEqual([known.size, [...known.sizes()]], [0, []]);
    }
  });
});
