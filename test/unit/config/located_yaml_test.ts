import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Located, MOST_BYTES, parseLocatedYaml, positionAt } from "../../../src/config/mod.ts";
import { errorOf, problemsOf } from "./problems.ts";

function parse(text: string): Located[] {
  return parseLocatedYaml(text, "f.yaml").map((document) => document.root);
}

function plain(node: Located | undefined): unknown {
  if (node === undefined || node.kind === "null") return null;
  if (node.kind === "scalar") return node.text;
  if (node.kind === "list") return node.items.map(plain);
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plain(entry.value)]));
}

describe("parseLocatedYaml", () => {
  const texts: [string, string][] = [
    ["010", "010"],
    ["1.10", "1.10"],
    ["yes", "yes"],
    ["0x1F", "0x1F"],
    ["1e3", "1e3"],
    ["9007199254740993", "9007199254740993"],
    ["2001-01-01", "2001-01-01"],
    ["True", "True"],
    ["'010'", "010"],
    ['"a\\tb"', "a\tb"],
    ["!!str 010", "010"],
    [".inf", ".inf"],
  ];
  for (const [written, text] of texts) {
    it(`parseLocatedYaml() keeps the text of ${written} as its author wrote it`, () => {
      const [root] = parse(`a: ${written}\n`);
      assert.deepEqual(plain(root), { a: text });
    });
  }

  it("parseLocatedYaml() gives every value the position where it starts", () => {
    const [first, second] = parse("a: 1\nb:\n  - x\n  - {c: d}\n---\n# note\ne: |\n  text\n");
    assert.ok(first && second);
    assert.deepEqual(positionAt(first, "a"), { line: 1, column: 4 });
    assert.deepEqual(positionAt(first, "b[0]"), { line: 3, column: 5 });
    assert.deepEqual(positionAt(first, "b[1].c"), { line: 4, column: 9 });
    assert.deepEqual(positionAt(first, "b[1].missing"), { line: 4, column: 5 });
    assert.deepEqual(positionAt(second, "e"), { line: 7, column: 4 });
  });

  it("parseLocatedYaml() skips empty documents and numbers the others as the file has them", () => {
    const documents = parseLocatedYaml("---\n---\na: 1\n---\n# only a note\n---\nb: 2\n", "f.yaml");
    assert.deepEqual(documents.map(({ number }) => number), [2, 4]);
  });

  for (const text of ["", "\n\n", "# note\n", "---\n---\n", "null\n", "~"]) {
    it(`parseLocatedYaml() refuses a text without documents: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(problemsOf(() => parse(text)), [
        "f.yaml:1:1: the file has no document: it is empty",
      ]);
    });
  }

  it("parseLocatedYaml() reads JSON and a byte order mark", () => {
    assert.deepEqual(parse('\ufeff{"a": [1, true, null], "b": "x"}').map(plain), [
      { a: ["1", "true", null], b: "x" },
    ]);
  });

  it("parseLocatedYaml() resolves merge keys: earlier sources win, an explicit null shadows", () => {
    const text = [
      "x: &x {a: 1, b: 2, c: 3}",
      "y: &y {b: 9, d: 4}",
      "m: {<<: [*x, *y], c: ~}",
      'q: {"<<": 1}',
      "",
    ].join("\n");
    const [root] = parse(text);
    assert.deepEqual(plain(root), {
      x: { a: "1", b: "2", c: "3" },
      y: { b: "9", d: "4" },
      m: { a: "1", b: "2", c: null, d: "4" },
      q: { "<<": "1" },
    });
  });

  it("parseLocatedYaml() lets an alias mean the anchor most recently defined before it", () => {
    assert.deepEqual(parse("a: &n 1\nb: *n\nc: &n 2\nd: *n\n").map(plain), [
      { a: "1", b: "1", c: "2", d: "2" },
    ]);
  });

  const refused: [string, string, string][] = [
    ["a syntax error", "a: 1\nb: [1, 2\n", "f.yaml:3:1: not valid YAML: "],
    ["a tab as indentation", "a:\n\tb: 1\n", "f.yaml:2:1: not valid YAML: "],
    ["a duplicate key", "a: 1\nb: 2\na: 3\n", 'f.yaml:3:1: the key "a" is given twice'],
    ["keys of equal text", "1: a\n'1': b\n", 'f.yaml:2:1: the key "1" is given twice'],
    ["an unknown alias", "a: *n\n", "f.yaml:1:4: the alias *n has no anchor &n before it"],
    ["a recursive alias", "a: &n [*n]\n", "f.yaml:1:8: the alias *n stands inside its own anchor"],
    ["a list as a key", "? [a]\n: 1\n", "f.yaml:1:3: a key must be plain text"],
    ["an empty key", "a: 1\n: 2\n", "f.yaml:2:1: a key must be plain text"],
    ["a merge of text", "a: {<<: x}\n", "f.yaml:1:9: a merge key << takes a mapping"],
    ["a zero byte", "a: \0\n", "f.yaml:1:1: the file is not text"],
    ["nesting", `a: ${"[".repeat(60)}${"]".repeat(60)}`, "f.yaml:1:54: the values are nested too"],
    ["an error in a later document", "a: 1\n---\nb: *n\n", "f.yaml:3:4 (document 2): the alias"],
  ];
  for (const [what, text, start] of refused) {
    it(`parseLocatedYaml() refuses ${what} with its position`, () => {
      const [first = ""] = problemsOf(() => parse(text));
      assert.equal(first.slice(0, start.length), start);
    });
  }

  it("parseLocatedYaml() reports the problems of all documents together", () => {
    assert.equal(problemsOf(() => parse("a: *n\n---\nb: 1\nb: 2\n---\nc: [\n")).length, 3);
  });

  it("parseLocatedYaml() never quotes the text around a syntax error", () => {
    const { message } = errorOf(() => parse("password: 'hunter2\nb: [}\n"));
    assert.doesNotMatch(message, /hunter2/);
  });

  it("parseLocatedYaml() refuses aliases that explode", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (const [index, name] of [..."bcdefghij"].entries()) {
      lines.push(`${name}: &${name} [${Array(10).fill(`*${"abcdefghi"[index]}`).join(",")}]`);
    }
    assert.match(problemsOf(() => parse(lines.join("\n")))[0] ?? "", /more than 100000 values/);
    const merges = `a: &a {${Array.from({ length: 2000 }, (_, i) => `k${i}: 1`).join(", ")}}\n` +
      Array.from({ length: 1000 }, (_, i) => `m${i}: {<<: *a}\n`).join("");
    assert.match(problemsOf(() => parse(merges))[0] ?? "", /more than 100000 values/);
    const texts = `a: &x ${"y".repeat(64_000)}\nb: [${"*x, ".repeat(100)}]`;
    assert.match(problemsOf(() => parse(texts))[0] ?? "", /more than 100000 values/);
  });

  it("parseLocatedYaml() refuses a text over the limit and reads one at the limit", () => {
    const text = `a: "${"x".repeat(MOST_BYTES - 6)}"\n`;
    assert.equal(parse(text).length, 1);
    assert.match(problemsOf(() => parse(`${text} `))[0] ?? "", /262145 bytes, the most .* 262144/);
  });

  it("parseLocatedYaml() reads 1000 documents and refuses more", () => {
    assert.equal(parse("a: 1\n---\n".repeat(999) + "a: 1\n").length, 1000);
    assert.deepEqual(problemsOf(() => parse("a: 1\n---\n".repeat(1000) + "a: 1\n")), [
      "f.yaml:1:1: the file has more than 1000 documents",
    ]);
  });

  it("parseLocatedYaml() reads 2000 entries of a list or a mapping and refuses more", () => {
    const items = (count: number) => `a: [${"b,".repeat(count)}]\n`;
    const keys = (count: number, name = "k") =>
      Array.from({ length: count }, (_, at) => `  ${name}${at}: 1\n`).join("");
    assert.equal(parse(items(2000)).length, 1);
    assert.equal(parse(`a:\n${keys(2000)}`).length, 1);
    const said = (line: number) => `:${line}:`;
    const merged = `a: &a\n${keys(1500)}b:\n  <<: *a\n${keys(501, "l")}`;
    for (
      const [text, line] of [[items(2001), 1], [`a:\n${keys(2001)}`, 2], [merged, 1503]] as const
    ) {
      const [problem = ""] = problemsOf(() => parse(text));
      assert.match(problem, /2001 entries are too many: the most is 2000$/);
      assert.ok(problem.includes(said(line)), problem);
    }
  });

  const deep: [string, string][] = [
    ["[", "[".repeat(100_000)],
    ["[]", "[".repeat(100_000) + "]".repeat(100_000)],
    ["{", "{a: ".repeat(60_000)],
    ["- ", "- ".repeat(100_000)],
    ["? ", "? ".repeat(100_000)],
  ];
  for (const [what, text] of deep) {
    it(`parseLocatedYaml() survives 100000 times ${what}`, () => {
      const error = errorOf(() => parse(text));
      assert.equal(error.code, "config_invalid");
      assert.ok(error.problems.every(({ line }) => line !== undefined));
    });
  }
});
