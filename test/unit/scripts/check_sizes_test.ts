import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  checkSizes,
  FILES_OF_FOLDER,
  LINES_OF_FILE,
  LINES_OF_FUNCTION,
} from "../../../scripts/check_sizes.ts";

/** That many lines of code, indented. */
const lines = (count: number) => "  a();\n".repeat(count);

describe("checkSizes() on readers of files", () => {
  const unbounded = [
    'import { readFile } from "node:fs/promises";\n',
    'import {\n  open,\n  readFile,\n} from "node:fs/promises";\n',
    "const text = readFileSync(path);\n",
    "const text = await fs.readFile(path);\n",
    "const text = await handle.readFile();\n",
    "const text = await Deno.readTextFile(path);\n",
    "const text = await Bun.file(path).text();\n",
  ];
  for (const text of unbounded) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const found = checkSizes(new Map([["src/a.ts", `\n${text}`]]));
      assert.deepEqual(found.map(({ line }) => line), [2]);
    });
  }

  it("accepts readers that are given, and those with a limit", () => {
    const text = 'import type { ReadFile } from "./a.ts";\nimport fs from "node:fs";\n' +
      "const a = readFile(path) + this.#readFile(b) + await readText(files, path, 9);\n";
    assert.deepEqual(checkSizes(new Map([["src/a.ts", text]])), []);
  });
});

describe("checkSizes()", () => {
  const inside = LINES_OF_FUNCTION - 2;
  const functions: readonly (readonly [title: string, source: (body: string) => string])[] = [
    ["a function", (body) => `export async function work(): Promise<void> {\n${body}}\n`],
    ["one with a type in its result", (body) => `function work(): { a: 1 } | A {\n${body}}\n`],
    ["one of generics", (body) => `function work<T extends { a: 1 }>(): A<{ b: T }> {\n${body}}\n`],
    ["one that is said to assert", (body) => `function work(x): asserts x is A {\n${body}}\n`],
    ["one that returns another", (body) => `function work(): (a: A) => void {\n${body}}\n`],
    ["an arrow", (body) => `const work = () => {\n${body}};\n`],
    ["an arrow with a type", (body) => `const work = (): A<() => void> => {\n${body}};\n`],
    ["a method", (body) => `class A {\n  #work(a: string): void {\n${body}  }\n}\n`],
    ["a function in a call", (body) => `describe("x", () => {\n${body}});\n`],
  ];
  for (const [title, source] of functions) {
    it(`accepts ${title} of ${LINES_OF_FUNCTION} lines and refuses a longer one`, () => {
      assert.deepEqual(checkSizes(new Map([["src/a.ts", source(lines(inside))]])), []);
      const [broken, ...more] = checkSizes(new Map([["src/a.ts", source(lines(inside + 1))]]));
      assert.match(broken?.rule ?? "", /has 61 lines, and may have 60/);
      assert.deepEqual(more, []);
    });
  }

  const others: readonly (readonly [title: string, source: string])[] = [
    ["parameters", `function work(\n${"  a: A,\n".repeat(59)}): void;\n`],
    [
      "what returns another",
      `class A {\n  a(): () => void {\n  }\n\n${"  a() {}\n".repeat(99)}}\n`,
    ],
    ["classes", `class A {\n${"  a() {}\n".repeat(99)}}\n`],
    ["tables", `const table = {\n${"  a: 1,\n".repeat(99)};\n`],
    ["loops", `for (const a of list) {\n${lines(99)}}\n`],
    ["conditions", `const a = f(x) ? g(y) : {\n${"  a: 1,\n".repeat(99)}};\n`],
    ["texts with braces", "const a = `() => {\n" + lines(99) + "}`;\n"],
  ];
  for (const [title, source] of others) {
    it(`does not take ${title} for functions`, () => {
      assert.deepEqual(checkSizes(new Map([["src/a.ts", source]])), []);
    });
  }

  it("counts an expression that a function is", () => {
    const source = `const work = () => ({\n${"  a: 1,\n".repeat(99)}});\nconst b = 1;\n`;
    assert.match(checkSizes(new Map([["src/a.ts", source]]))[0]?.rule ?? "", /has 101 lines/);
  });

  it("says at which line a long function begins, and its name", () => {
    const source = `\n\nfunction work() {\n${lines(60)}}\n`;
    const [broken] = checkSizes(new Map([["src/a.ts", source]]));
    assert.equal(broken?.line, 3);
    assert.match(broken?.rule ?? "", /^work has 62 lines/);
  });

  it("refuses files that are longer than any was", () => {
    assert.deepEqual(checkSizes(new Map([["src/a.ts", lines(LINES_OF_FILE)]])), []);
    const [broken] = checkSizes(new Map([["src/a.ts", lines(LINES_OF_FILE + 1)]]));
    assert.match(broken?.rule ?? "", /^has 319 lines, and may have 318/);
  });

  it("refuses one file more in a folder that was an attic", () => {
    for (const [folder, most] of Object.entries(FILES_OF_FOLDER)) {
      const files = Array.from({ length: most }, (_, index) => `${folder}/a${index}.ts`);
      const named = (names: readonly string[]) => new Map(names.map((name) => [name, ""]));
      assert.deepEqual(checkSizes(named([...files, `${folder}/below/b.ts`])), []);
      const [broken] = checkSizes(named([...files, `${folder}/b.ts`]));
      assert.equal(broken?.file, folder);
    }
  });
});
