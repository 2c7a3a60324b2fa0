import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KnownTexts, maskKnown, partsOf, piecesOf } from "../../../src/system/known_texts.ts";
import { usualForms, writtenForms } from "../../../src/system/secret_forms.ts";
import { beginsRandom, looksRandom } from "../../../src/system/secret_texts.ts";
import { isSample } from "../../fakes/sample.ts";

const CASES = isSample ? 300 : 900;
const ALL = { random: true, words: true };

/** Numbers that look like chance and are the same every time. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2654435761 >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

/** What is looked for of secrets, with nothing that makes it quick, and whether it is not encoded. */
function partsOfAll(secrets: Iterable<string>): Map<string, boolean> {
  const pieces = [...secrets].flatMap(piecesOf);
  const forms = pieces.flatMap((each) => [...writtenForms(each)]).flatMap((
    each,
  ) => [...partsOf(each)]);
  const plain = pieces.flatMap((each) => [...partsOf(each)]);
  return new Map([...forms, ...plain].map((each) => [each, plain.includes(each)]));
}

/** The length of what is to be masked at a place of a text. */
function lengthAt(text: string, at: number, parts: ReadonlyMap<string, boolean>): number {
  let whole = 0;
  let longest = 0;
  for (const [part, isPlain] of parts) {
    let common = 0;
    while (common < part.length && part[common] === text[at + common]) common++;
    if (common === part.length) whole = Math.max(whole, common);
    if (common >= 4 && isPlain) longest = Math.max(longest, common);
  }
  const rest = text.slice(at + longest, at + 64);
  const end = at + longest + (/^[^\s…"'`]*/.exec(rest)?.[0].length ?? 0);
  const least = text[end] === "…" || end === text.length ? 8 : 12;
  const isRandom = text[end] === "…" || beginsRandom(text.slice(at, at + longest)) <= longest;
  return longest > whole && longest >= least && isRandom ? end - at : whole;
}

/** The length of the end of a text that is to be masked at a place where a line begins. */
function endAt(text: string, at: number, parts: ReadonlyMap<string, boolean>): number {
  if (!/(?:^|\n|: )(?:(?:#\d+ )?\d+\.\d+ )?$/.test(text.slice(0, at))) return 0;
  const line = backwards(text.slice(at, at + 64).replace(/(?<=\n|: )[^]*$/, ""));
  const plain = [...parts].filter(([, isPlain]) => isPlain);
  const ends = new Map(plain.map(([part]) => [backwards(part), true]));
  for (let place = 0; place + 8 <= line.length; place++) {
    const length = lengthAt(line, place, ends);
    if (length > 0 && place + length === line.length) return length;
  }
  return 0;
}

function backwards(text: string): string {
  return text.split("").reverse().join("");
}

/** What a text must look like where these sets of secrets are known. */
function naive(text: string, ...sets: Iterable<string>[]): string {
  const isMasked = new Array<boolean>(text.length).fill(false);
  for (const parts of sets.map(partsOfAll)) {
    for (let at = 0; at < text.length; at++) {
      isMasked.fill(true, at, at + lengthAt(text, at, parts));
      isMasked.fill(true, at, at + endAt(text, at, parts));
    }
  }
  const signs = [...isMasked.entries()].map(([at, masked]) =>
    !masked ? text[at] : isMasked[at - 1] === true ? "" : "***"
  );
  return signs.join("");
}

const ALPHABETS = [
  ...["ab", "aab", "abcd", "a1b2", "a$'", 'a"\\', "ab ", "aé<", "x/=+ü", "ab…1$", "ab1\n", "ab1: "],
];
const LENGTHS = [5, 12, 30, 70, 200];

/** Secrets and a text of pieces of them, of a small alphabet. */
function made(seed: number) {
  const next = chance(seed);
  const alphabet = ALPHABETS[next(ALPHABETS.length)] ?? "a";
  const word = (length: number) =>
    Array.from({ length }, () => alphabet[next(alphabet.length)]).join("");
  const longest = LENGTHS[next(LENGTHS.length)] ?? 5;
  const common = word(next(20));
  const secrets = Array.from(
    { length: 1 + next(6) },
    () => (next(2) === 0 ? common : "") + word(1 + next(longest)),
  );
  const parts = [...partsOfAll(secrets).keys()];
  const text = Array.from({ length: 1 + next(8) }, () => {
    const part = parts[next(parts.length)] ?? "";
    const cut = part.slice(
      next(3) === 0 ? next(part.length) : 0,
      next(2) === 0 ? next(part.length) : undefined,
    );
    const lead = ["\n", ": ", "\n#8 0.697 ", "\n12.3 "][next(4)];
    return [cut, word(next(9)), "…", part, lead][next(5)];
  }).join("");
  return { secrets, text, next };
}

describe("what is looked for quickly", () => {
  it("is what a comparison of everything with everything finds", () => {
    for (let seed = 1; seed <= CASES; seed++) {
      const { secrets, text, next } = made(seed);
      const sets = [new KnownTexts(), new KnownTexts()];
      const had: string[][] = [[], []];
      for (const each of secrets) {
        const set = next(2);
        sets[set]?.add(each, { owner: `${next(2)}`, group: "" }, ALL);
        had[set]?.push(each);
      }
      const shown = maskKnown(text, sets, "***");
      assert.equal(shown, naive(text, ...had), JSON.stringify({ seed, secrets, text }));
    }
  });

  it("is what is left when others were forgotten, and nothing else", () => {
    for (let seed = 1; seed <= CASES / 3; seed++) {
      const { secrets, text, next } = made(seed);
      const known = new KnownTexts();
      const owners = ["0", "1", "2"];
      const had = secrets.map((each) => {
        const owner = owners[next(3)] ?? "";
        known.add(each, { owner, group: "" }, ALL);
        return { each, owner };
      });
      known.forget("0");
      known.forget("2");
      const left = had.filter(({ owner }) => owner === "1").map(({ each }) => each);
      const shown = maskKnown(text, [known], "***");
      assert.equal(shown, naive(text, left), JSON.stringify({ seed, secrets, text }));
      known.forget("1");
      assert.equal(known.size, 0);
      assert.equal(maskKnown(text, [known], "***"), text);
    }
  });

  it("has all forms of a text, be it long or not", () => {
    const next = chance(7);
    for (let length = 4; length < 20_000; length = Math.ceil(length * 1.3)) {
      const text = Array.from({ length }, () => String.fromCharCode(33 + next(90))).join("");
      const known = new KnownTexts();
      known.add(text, { owner: "a", group: "a" }, ALL);
      for (const form of length > 6000 ? usualForms(text) : writtenForms(text)) {
        if (form.length < 4) continue;
        assert.equal(maskKnown(`in <${form}>`, [known], "***"), "in <***>", `${length}`);
        assert.ok(!looksRandom(form) || form.length > 4);
      }
    }
  });
});
