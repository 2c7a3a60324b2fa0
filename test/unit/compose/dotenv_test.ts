import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dotenvEntries } from "../../../src/compose/dotenv.ts";

describe("dotenvEntries()", () => {
  const rows: readonly (readonly [string, string, Record<string, string>])[] = [
    ["plain values", "A=b\nC = d e \nE=", { A: "b", C: "d e", E: "" }],
    ["exported ones", "export A=b\n  export B=c", { A: "b", B: "c" }],
    ["colons", "A: b", { A: "b" }],
    ["comments", "# A=b\nB=c # d\nC=d#e", { B: "c", C: "d#e" }],
    ["single quotes as they are", "A='b \"\\n $C #d'", { A: 'b "\\n $C #d' }],
    ["double quotes with escapes", 'A="b \\"c\\" \\n\\\\"', { A: 'b "c" \n\\' }],
    ["values of several lines", "A='b\nc'\nD=\"e\nf\"\nG=h", { A: "b\nc", D: "e\nf", G: "h" }],
    ["line ends of Windows", "A=b\r\nC='d'\r\n", { A: "b", C: "d" }],
    ["names with dots and dashes", "a.b-c=d", { "a.b-c": "d" }],
    ["nothing else", "A\n=b\nnot a variable", {}],
    ["names of any letters, behind a mark of byte order", "\ufeffA=b\nключ=c\n1A=d\nx[0]=e", {
      A: "b",
      "ключ": "c",
      "1A": "d",
      "x[0]": "e",
    }],
    ["quotes that do not end", "A='b\nC=d", { A: "'b", C: "d" }],
  ];
  for (const [what, text, expected] of rows) {
    it(`dotenvEntries() reads ${what}`, () => {
      const found = dotenvEntries(text).map(({ name, value }) => [name, value]);
      assert.deepEqual(Object.fromEntries(found), expected);
    });
  }
});
